import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { reachable, serverUser } from '../server/embedded/server-user.js';

/** KeeperOrder is what a keeper is told: which program, and the text of its configuration. */
export interface KeeperOrder {
  readonly binary: string;
  readonly configuration: string;
}

const READY = /process up/;
const LAST_LINES = 20;

/**
 * The keeper is a process of its own that runs PgBouncer, as an unprivileged user (it refuses to be root). It ends when the test lets go of it, or is gone, however
 * it went: then their channel closes. So no pooler outlives its test.
 */
async function main({ binary, configuration }: KeeperOrder): Promise<void> {
  const released = new Promise<void>((resolve) => process.once('disconnect', resolve));
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => undefined);
  const user = serverUser();
  const place = [tmpdir(), '/var/tmp', '/tmp'].find((folder) => reachable(folder, user)) ?? tmpdir();
  const folder = mkdtempSync(join(place, 'holdfast-pgbouncer-'));
  try {
    const file = join(folder, 'pgbouncer.ini');
    writeFileSync(file, configuration, { mode: 0o600 });
    chmodSync(folder, 0o700);
    if (user) for (const path of [folder, file]) chownSync(path, user.uid, user.gid);
    const pooler = spawn(binary, [file], { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    const ended = once(pooler, 'close');
    const lines: string[] = [];
    const ready = new Promise<void>((resolve, reject) => {
      createInterface({ input: pooler.stderr }).on('line', (line) => {
        lines.push(line);
        if (READY.test(line)) resolve();
      });
      ended.then(() => reject(new Error(`PgBouncer ended:\n${lines.slice(-LAST_LINES).join('\n')}`)), reject);
    });
    await ready;
    if (process.connected) process.send?.({ ready: true });
    await Promise.race([released, ended]);
    // SIGTERM ends it at once, without waiting for its clients.
    pooler.kill('SIGTERM');
    await ended;
  } finally {
    rmSync(folder, { force: true, recursive: true });
  }
}

process.once('message', (order: KeeperOrder) => {
  main(order).then(
    () => process.exit(0),
    (error: unknown) => {
      if (process.connected) process.send?.({ failed: String(error) }, () => process.exit(1));
      else process.exit(1);
    },
  );
});
