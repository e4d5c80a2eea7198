import { randomUUID } from 'node:crypto';
import { PgExecutor } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import type { Client } from 'pg';
import type { EncodedRequest } from '../src/domain/request.js';
import type { Settlement } from '../src/domain/settlement.js';
import type { ClaimedJob, LeasedSettlement } from '../src/ports/job-store.js';
import type { PostgresJobStore } from '../src/postgres/postgres.job-store.js';
import { LowWaterMarks } from '../src/postgres/low-water.marks.js';
import { claimJobs } from '../src/postgres/sql/claim-jobs.sql.js';
import { postgresStore, SCHEMA } from './store.harness.js';

const KIND = 'contention.job';
const JOB = SCHEMA.of('job');
const LEASE_MS = 600_000;
const COMPLETE: Settlement = { verb: 'complete', outcome: null };
const RETRY: Settlement = { verb: 'retry', delayMs: 0, failure: { attempt: 1, code: 'test.failed' } };

describe('many at the same rows', () => {
  let database: TestDatabase;
  let stores: PostgresJobStore[];

  beforeEach(async () => {
    database = await createTestDatabase();
    stores = [postgresStore(database), postgresStore(database), postgresStore(database)];
  });
  afterEach(async () => {
    for (const store of stores) await store.close();
    await database.drop();
  });

  const requests = (count: number): EncodedRequest[] =>
    Array.from({ length: count }, () => ({
      dedupeKey: null,
      dueAt: null,
      dueInMs: null,
      kind: KIND,
      maxAttempts: 100,
      payloadJson: '{}',
      payloadVersion: 1,
      priority: 5,
      replacePayload: false,
      tenantId: null,
      whenRunning: 'merge',
    }));
  const claim = (limit: number, fullLook = true): Promise<ClaimedJob[]> =>
    stores[0]!.claim({
      fullLook,
      kinds: [{ kind: KIND, leaseMs: LEASE_MS, limit }],
      limit,
      owner: 'contention',
      token: randomUUID(),
    });
  const settlements = (jobs: readonly ClaimedJob[]): LeasedSettlement[] =>
    jobs.map(({ id, lease }) => ({ lease, settlement: Number(id) % 2 === 0 ? COMPLETE : RETRY }));
  const inParts = async <T, R>(items: readonly T[], work: (part: readonly T[]) => Promise<R[]>): Promise<R[]> =>
    (await Promise.all([0, 1, 2, 3].map((n) => work(items.slice(n * 50, n * 50 + 50))))).flat();

  it('K132: completions, renewals, reaping and giving back of the same 200 jobs meet without a deadlock, and each lease ends once', async () => {
    const [one, two, three] = stores as [PostgresJobStore, PostgresJobStore, PostgresJobStore];
    await one.enqueueNow(requests(200));
    for (let round = 0; round < 8; round += 1) {
      const jobs = await claim(200);
      const leases = jobs.map(({ lease }) => lease);
      await database.adminQuery(
        `UPDATE ${JOB} SET lease_until = now() - interval '1 second' WHERE state = 1 AND id % 10 = 0`,
      );
      const there = settlements(jobs);
      const back = settlements([...jobs].reverse());
      const [first, second, reaped, , , givenBack] = await Promise.all([
        inParts(there, (part) => one.settle(part)),
        inParts(back, (part) => two.settle(part)),
        three.reap([KIND], 200),
        inParts([...leases].reverse(), (part) => two.renew(part, LEASE_MS)),
        inParts(leases, (part) => three.renew(part, LEASE_MS)),
        three.giveBackClaim(jobs[0]!.lease.token),
      ]);
      const held = [...first, ...second].filter(Boolean).length;
      expect(held + reaped.returned.length + givenBack).toBe(200);
      expect(reaped.deadLettered).toEqual([]);
      await database.adminQuery(`UPDATE ${JOB} SET suspect = false WHERE state = 0`);
      await one.enqueueNow(requests(200 - (await pending())));
    }
  });

  it('K68: under a transaction that holds vacuum back, renewals write no job row and a claim costs what the first one cost', async () => {
    const holder: Client = await database.client();
    await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await holder.query(`SELECT count(*) FROM ${JOB}`);
    await database.adminQuery(
      `INSERT INTO ${JOB} (kind, payload, due_at) SELECT '${KIND}', '{}', now() - interval '1 hour' + i * interval '1 ms'
         FROM generate_series(1, 20000) i`,
    );
    const client = await database.client();
    await client.query('SET enable_seqscan = off');
    const marks = new LowWaterMarks();
    const costs: number[] = [];
    for (let round = 0; round < 40; round += 1) {
      const { cost, ids, token } = await claimCounted(client, marks);
      costs.push(cost);
      const leases = ids.map((jobId) => ({ jobId, token }));
      const before = await versions(ids);
      for (let i = 0; i < 3; i += 1) expect(await stores[1]!.renew(leases, LEASE_MS)).toHaveLength(leases.length);
      expect(await versions(ids)).toEqual(before);
      await stores[1]!.settle(leases.map((lease) => ({ lease, settlement: COMPLETE })));
    }
    await holder.query('COMMIT');
    // Without the marks every claim walks past all that were claimed before it: some 160 buffers more by the end.
    expect(costs.at(-1)).toBeLessThan(costs[5]! * 1.04);
  });

  const pending = async () => {
    const [row] = await database.adminQuery<{ n: number }>(`SELECT count(*)::int AS n FROM ${JOB} WHERE state = 0`);
    return row!.n;
  };
  const versions = (ids: readonly string[]) =>
    database.adminQuery(`SELECT id, ctid::text FROM ${JOB} WHERE id = ANY($1::bigint[]) ORDER BY id`, [ids]);

  /** claimCounted claims 200 as the store does, and answers the buffers it touched. */
  const claimCounted = async (client: Client, marks: LowWaterMarks) => {
    const token = randomUUID();
    const params = { kinds: [KIND], leaseMs: [LEASE_MS], limit: 200, limits: [200], owner: 'contention', token };
    const { text, values } = claimJobs.bind(SCHEMA, { ...params, ...marks.of([KIND], false) });
    await client.query('BEGIN');
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ${text}`,
      [...values],
    );
    await client.query('ROLLBACK');
    const plan = rows[0]!['QUERY PLAN'][0].Plan;
    const executor = new PgExecutor(client, { preparedStatements: false });
    const claimed = await claimJobs.run(executor, SCHEMA, { ...params, ...marks.of([KIND], false) });
    marks.remember(claimed.rows);
    const cost = plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!;
    return { cost, ids: claimed.rows.map(({ id }) => id), token };
  };
});
