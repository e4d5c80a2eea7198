import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartLock } from '../local/start.lock.js';
import { clearStaleServer } from '../local/stale.server.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-stale-'));
});

afterEach(() => rmSync(folder, { force: true, recursive: true }));

describe('what a crash leaves in the data folder', () => {
  it('is a postmaster.pid whose number another program got: it is removed and the program left alone', async () => {
    const file = join(folder, 'postmaster.pid');
    writeFileSync(file, `${process.ppid}\n${folder}\n`);
    await clearStaleServer(folder);
    expect(existsSync(file)).toBe(false);
    expect(process.kill(process.ppid, 0)).toBe(true);
  });

  it('is the lock of a start whose number another program got, or nobody: it is taken over', () => {
    for (const pid of [process.ppid, 999_999_999, 'nonsense']) {
      writeFileSync(join(folder, 'start.pid'), String(pid));
      StartLock.take(folder).release();
    }
    expect(existsSync(join(folder, 'start.pid'))).toBe(false);
  });
});
