import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import type { PostgresJobStore } from '../../src/postgres/postgres.job-store.js';
import { failure, order, request } from '../../src/testing/job-store.harness.js';
import { postgresStore, SCHEMA } from '../store.harness.js';

const JOB = SCHEMA.of('job');
const KIND = 'contract.job';

describe('claims under attack', () => {
  let database: TestDatabase;
  const stores: PostgresJobStore[] = [];
  const another = (): PostgresJobStore => {
    const store = postgresStore(database);
    stores.push(store);
    return store;
  };

  beforeEach(async () => (database = await createTestDatabase()));
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
    await database.drop();
  });

  const insert = (count: number, due: string, more = '') =>
    database.adminQuery(
      `INSERT INTO ${JOB} (kind, due_at, payload${more && ', priority'}) SELECT '${KIND}', ${due}, '{}'${more} FROM generate_series(1, ${count}) i`,
    );
  const drain = async (store: PostgresJobStore, fullLook: boolean, limit = 7): Promise<string[]> => {
    const ids: string[] = [];
    for (;;) {
      const got = await store.claim(order({ fullLook, limit, token: randomUUID() }));
      if (got.length === 0) return ids;
      ids.push(...got.map(({ id }) => id));
    }
  };

  it('Q14, K11: quick looks pass nothing among jobs due in one microsecond, nor between microseconds', async () => {
    await insert(300, `'2026-01-01 00:00:00.000001+00'`);
    await insert(300, `'2026-01-01 00:00:00.000001+00'::timestamptz + (i % 3) * interval '1 microsecond'`);
    const ids = await drain(another(), false);
    expect(new Set(ids).size).toBe(600);
    expect(ids).toHaveLength(600);
  });

  it.each([`'SQL, DMY'`, `'Postgres, MDY'`, `'German'`])(
    'Q14, K11: a mark means the same moment whatever the defaults of the database: DateStyle %s',
    async (style) => {
      // IST is read as the time of Israel where it was written as that of India.
      await database.adminQuery(`DO $$ BEGIN
        EXECUTE format('ALTER DATABASE %I SET DateStyle = ${style.replaceAll("'", "''")}', current_database());
        EXECUTE format('ALTER DATABASE %I SET TimeZone = ''Asia/Kolkata''', current_database());
        EXECUTE format('ALTER DATABASE %I SET IntervalStyle = ''sql_standard''', current_database());
      END $$`);
      await insert(60, `now() - interval '5 hours' + i * interval '1 minute'`);
      const store = another();
      await store.claim(order({ limit: 1 }));
      expect(await drain(store, false)).toHaveLength(59);
    },
  );

  it('Q14: what came back behind the marks of another process is found by its next full look', async () => {
    const [here, there] = [another(), another()];
    await insert(30, `now() - interval '1 hour' + i * interval '1 second'`);
    const taken = await there.claim(order({ limit: 10 }));
    expect(await drain(here, false)).toHaveLength(20);
    await there.settle([
      ...taken.slice(0, 4).map(({ lease }) => ({ lease, settlement: { verb: 'giveBack' as const } })),
      ...taken
        .slice(4, 7)
        .map(({ lease }) => ({ lease, settlement: { delayMs: 0, failure: failure(), verb: 'retry' as const } })),
    ]);
    await database.adminQuery(
      `UPDATE ${JOB} SET lease_until = now() - interval '1 second' WHERE id = ANY ($1::bigint[])`,
      [taken.slice(7).map(({ id }) => id)],
    );
    await there.reap([KIND], 10);
    expect(await drain(here, true)).toHaveLength(7);
    const suspects = await Promise.all([here, there, here, there].map((store) => store.claimSuspect(order())));
    expect(new Set(suspects.flatMap((job) => (job ? [job.id] : []))).size).toBe(3);
  });

  it('Q14: a mark that lies ahead of the clock hides nothing that is enqueued now', async () => {
    const store = another();
    await insert(5, 'now()');
    await drain(store, false);
    // The clock is set back by a minute: seen from the rows, the marks move ahead by one.
    const marks = (store as unknown as { marks: { byRange: Map<string, { due: string; id: string }> } }).marks;
    for (const [range, mark] of marks.byRange)
      marks.byRange.set(range, { ...mark, due: new Date(Date.now() + 60_000).toISOString() });
    await store.enqueueNow([request()]);
    expect(await store.claim(order({ fullLook: false }))).toHaveLength(1);
  });

  it('Q11, Q14: limits hold for kinds with quotes and across priorities, and the first priority comes first in each', async () => {
    const kinds = [`it's.a"kind`, KIND];
    for (const kind of kinds)
      await database.adminQuery(
        `INSERT INTO ${JOB} (kind, priority, due_at, payload) SELECT $1, 9 - i % 10, now() - i * interval '1 minute', '{}' FROM generate_series(1, 200) i`,
        [kind],
      );
    const store = another();
    for (const fullLook of [true, false]) {
      const jobs = await store.claim(
        order({ fullLook, kinds: kinds.map((kind, i) => ({ kind, leaseMs: 1_000, limit: 15 + i })), limit: 100 }),
      );
      expect(kinds.map((kind) => jobs.filter((job) => job.kind === kind).length)).toEqual([15, 16]);
      for (const kind of kinds) {
        const priorities = jobs.filter((job) => job.kind === kind).map((job) => job.priority);
        expect(priorities).toEqual([...priorities].sort());
        expect(priorities[0]).toBe(0);
      }
    }
  });

  it('Q11: six claimers share 5,000 jobs, each once, while rows are locked by callers, jobs come back and others are enqueued', async () => {
    await insert(5_000, `now() - (i % 50) * interval '1 second'`);
    await database.adminQuery(`UPDATE ${JOB} SET priority = id % 10`);
    const seen = new Map<string, number>();
    const locker = await database.client();
    let working = true;
    const locking = (async () => {
      while (working) {
        await locker.query('BEGIN');
        await locker.query(`SELECT FROM ${JOB} WHERE state = 0 AND id % 97 = 3 FOR UPDATE SKIP LOCKED`);
        await locker.query('ROLLBACK');
      }
    })();
    const work = async (store: PostgresJobStore, limit: number) => {
      for (let empty = 0; empty < 3;) {
        const jobs = await store.claim(order({ fullLook: empty > 0, limit }));
        empty = jobs.length === 0 ? empty + 1 : 0;
        if (jobs.length > limit) throw new Error('More than the limit.');
        for (const { id } of jobs) seen.set(id, (seen.get(id) ?? 0) + 1);
        const settled = await store.settle(
          jobs.map(({ lease }) => ({ lease, settlement: { outcome: null, verb: 'complete' as const } })),
        );
        if (settled.includes(false)) throw new Error('A lease was lost.');
      }
    };
    try {
      await Promise.all([31, 37, 41, 43, 47, 53].map((limit) => work(another(), limit)));
    } finally {
      working = false;
      await locking;
    }
    for (const id of await drain(another(), true)) seen.set(id, (seen.get(id) ?? 0) + 1);
    expect(seen.size).toBe(5_000);
    expect([...seen.values()].filter((times) => times > 1)).toEqual([]);
  });
});
