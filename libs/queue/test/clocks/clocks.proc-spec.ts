import { join } from 'node:path';
import { createTestDatabase, spawnTs, waitFor, type SpawnedProcess, type TestDatabase } from '@holdfast/testing';

const CHILD = 'libs/queue/test/clocks/clock.child.ts';
const PRELOAD = join(__dirname, 'shifted-clock.cjs');
const TEN_MINUTES_MS = 600_000;
/** What is early is wrong by any amount; late is what a loaded machine may be, and far less than ten minutes. */
const LATE_S = 60;
/** Times of the database are compared with each other as milliseconds. */
const EARLY_S = 0.01;

describe('a process whose clock is wrong', () => {
  const children: SpawnedProcess[] = [];
  let db: TestDatabase;
  beforeEach(async () => {
    db = await createTestDatabase();
    await db.adminQuery(
      `CREATE TABLE clock_run (id bigint GENERATED ALWAYS AS IDENTITY, kind text, attempt int, pid int, created_at timestamptz, due_at timestamptz, at timestamptz DEFAULT clock_timestamp())`,
    );
  });
  afterEach(async () => {
    for (const each of children.splice(0)) if (!each.exited) await each.kill();
    await db.drop();
  });

  const child = (shiftMs: number, env: Record<string, string> = {}) => {
    const spawned = spawnTs(CHILD, {
      env: { CLOCK_SHIFT_MS: String(shiftMs), DATABASE_URL: db.url, ...env },
      nodeArgs: ['-r', PRELOAD],
    });
    children.push(spawned);
    return spawned;
  };
  /** moments answers when the runs of a kind began, in seconds of the database's clock. */
  const moments = async (kind: string) =>
    (
      await db.adminQuery<{ s: number }>(
        `SELECT extract(epoch FROM at)::float AS s FROM clock_run WHERE kind = $1 ORDER BY id`,
        [`clock.${kind}`],
      )
    ).map(({ s }) => s);
  const jobOf = async (kind: string) =>
    (
      await db.adminQuery<{ attempt: number; created: number; due: number; state: number; until: number }>(
        `SELECT attempt, state, extract(epoch FROM created_at)::float AS created, extract(epoch FROM due_at)::float AS due,
           extract(epoch FROM lease_until)::float AS until FROM holdfast.job WHERE kind = $1`,
        [`clock.${kind}`],
      )
    )[0]!;
  const dbNow = async () =>
    (await db.adminQuery<{ s: number }>(`SELECT extract(epoch FROM clock_timestamp())::float AS s`))[0]!.s;
  const until = (what: string, condition: () => Promise<boolean>) => waitFor(condition, { deadlineMs: 60_000, what });
  const within = (seconds: number, least: number) => {
    expect(seconds).toBeGreaterThanOrEqual(least - EARLY_S);
    expect(seconds).toBeLessThan(least + LATE_S);
  };

  it.each([
    ['ahead', TEN_MINUTES_MS],
    ['behind', -TEN_MINUTES_MS],
  ])(
    'K11, Q11, R7, R9, S3: ten minutes %s, runs, retries, leases, timeouts and duties are at the database’s moments',
    async (_, shiftMs) => {
      const dated = (await dbNow()) + 4;
      const wrong = child(shiftMs, { DUE_AT: new Date(dated * 1_000).toISOString() });
      const { now } = await wrong.event('ready');
      expect(Math.abs(Number(now) - Date.now() - shiftMs)).toBeLessThan(TEN_MINUTES_MS / 2);
      const count = async (kind: string) => (await moments(kind)).length;
      await until('all kinds to run', async () => {
        const counts = await Promise.all(
          ['later', 'dated', 'retried', 'deferred', 'repeated', 'aborted', 'long', 'killed', 'duty'].map(count),
        );
        return counts.every((each, at) => each >= [1, 1, 2, 2, 3, 1, 1, 1, 3][at]!);
      });

      // Relative delays are by the database's clock, absolute moments are what they are.
      const later = await jobOf('later');
      within(later.due - later.created, 3);
      within((await moments('later'))[0]! - later.created, 3);
      within((await moments('dated'))[0]!, dated);
      // A moment that the caller made from its own clock is as wrong as that clock.
      const own = await jobOf('own');
      within(own.due - own.created, shiftMs / 1_000 + 1 - LATE_S / 2);
      expect(await count('own')).toBe(shiftMs > 0 ? 0 : 1);

      const gaps = async (kind: string) =>
        (await moments(kind)).map((s, at, all) => s - (all[at - 1] ?? -Infinity)).slice(1);
      // A duty and a timeout began before their first row was written.
      for (const kind of ['retried', 'deferred', 'repeated', 'duty'])
        for (const gap of await gaps(kind)) within(gap, kind === 'duty' ? 1 : 2);
      within((await moments('aborted'))[0]! - (await moments('timed'))[0]!, 0.5);
      await until('the timeout to be recorded', async () => (await jobOf('timed')).state === 4);

      // What a handler is told are the database's moments too.
      const told = await db.adminQuery(
        `SELECT FROM clock_run r JOIN holdfast.job j USING (kind) WHERE abs(extract(epoch FROM r.created_at - j.created_at)) > 0.002`,
      );
      expect(told).toEqual([]);

      // A lease is renewed, and a right process does not take it; when its holder is killed, it does, and not before the lease is over.
      const right = child(0);
      const rival = await right.event('ready').then(() => right.pid);
      const from = await dbNow();
      await until('four leases to pass', async () => (await dbNow()) > from + 6);
      expect([await count('long'), await count('killed')]).toEqual([1, 1]);
      wrong.send({ go: true });
      await until('the long run to end', async () => (await jobOf('long')).state === 2);
      expect(await jobOf('long')).toMatchObject({ attempt: 1 });
      const { until: lease } = await jobOf('killed');
      await wrong.kill();
      const duties = await count('duty');
      await until('another process to take over', async () => (await count('killed')) === 2);
      within((await moments('killed'))[1]!, lease);
      await until('another leader', async () => (await count('duty')) > duties + 1);
      const [last] = await db.adminQuery(
        `SELECT pid FROM clock_run WHERE kind = 'clock.duty' ORDER BY id DESC LIMIT 1`,
      );
      expect(last).toEqual({ pid: rival });
    },
    180_000,
  );
});
