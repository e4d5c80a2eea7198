import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive, spawnTs, waitFor } from '@holdfast/testing';

describe('npm run demo', () => {
  it('leaves no server and no folder behind when it is killed', async () => {
    const place = mkdtempSync(join(tmpdir(), 'holdfast-demo-test-'));
    chmodSync(place, 0o755);
    try {
      const demo = spawnTs('tools/demo.ts', { env: { DATABASE_URL: '', TMPDIR: place } });
      await demo.line(/^api http/, 60_000);
      const [folder] = readdirSync(place).filter((name) => name.startsWith('holdfast-demo-'));
      const server = Number(readFileSync(join(place, folder ?? '', 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);
      expect(isAlive(server)).toBe(true);
      await demo.kill();
      await waitFor(() => !isAlive(server) && readdirSync(place).length === 0, {
        deadlineMs: 30_000,
        what: 'server and folder to be gone',
      });
    } finally {
      rmSync(place, { force: true, recursive: true });
    }
  }, 120_000);
});
