import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { ControlConnections, PgExecutor, type Statement } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import { LowWaterMarks } from '../src/postgres/low-water.marks.js';
import { claimJobs, type ClaimParams } from '../src/postgres/sql/claim-jobs.sql.js';
import { claimSuspect } from '../src/postgres/sql/claim-suspect.sql.js';
import { completeJobs } from '../src/postgres/sql/complete-jobs.sql.js';
import { giveBackClaim } from '../src/postgres/sql/give-back-claim.sql.js';
import { reapJobs } from '../src/postgres/sql/reap-jobs.sql.js';
import { readAttempt } from '../src/postgres/sql/read-attempt.sql.js';
import { renewLeases } from '../src/postgres/sql/renew-leases.sql.js';
import { settleJobs } from '../src/postgres/sql/settle-jobs.sql.js';
import { SCHEMA } from './store.harness.js';

interface PlanNode {
  readonly 'Actual Rows'?: number;
  readonly 'Index Name'?: string;
  readonly 'Node Type': string;
  readonly Plans?: PlanNode[];
  readonly 'Relation Name'?: string;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
}

const JOB = SCHEMA.of('job');
const KIND = 'plan.job';
const TOKEN = '7d6f0000-0000-4000-8000-000000000000';
/** What the sessions of the store are pinned to; the tests that need other plans undo it. */
const STORE_SESSION = 'SET enable_seqscan = off; SET jit = off';

describe('plans of the store', () => {
  let database: TestDatabase;
  let client: Client;

  beforeEach(async () => {
    database = await createTestDatabase();
    client = await database.client();
  });
  afterEach(() => database.drop());

  const claimParams = (changes: Partial<ClaimParams> = {}): ClaimParams => ({
    ...new LowWaterMarks().of([KIND], true),
    kinds: [KIND],
    leaseMs: [30_000],
    limit: 100,
    limits: [100],
    owner: 'worker',
    token: randomUUID(),
    ...changes,
  });

  const insert = (count: number, columns: Record<string, string> = {}) => {
    const values = { kind: `'${KIND}'`, payload: `'{}'`, ...columns };
    return client.query(
      `INSERT INTO ${JOB} (${Object.keys(values).join(', ')}) SELECT ${Object.values(values).join(', ')} FROM generate_series(1, ${count}) i`,
    );
  };

  /** bulk does `work` without the indexes that it does not need, and makes them again. */
  const bulk = async (work: () => Promise<unknown>, kept = '') => {
    const { rows } = await client.query<{ name: string; text: string }>(
      `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS text FROM pg_index
       WHERE indrelid = '${JOB}'::regclass AND NOT indisprimary AND indexrelid::regclass::text <> $1`,
      [kept],
    );
    for (const { name } of rows) await client.query(`DROP INDEX ${name}`);
    await work();
    for (const { text } of rows) await client.query(text);
  };

  /** explain runs the statement as the store sends it, rolls it back, and answers its plan. */
  const explain = async <P>(
    statement: Statement<P, unknown>,
    params: P,
    options = 'ANALYZE, BUFFERS, TIMING OFF',
  ): Promise<PlanNode[]> => {
    const { text, values } = statement.bind(SCHEMA, params);
    await client.query('BEGIN');
    try {
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        `EXPLAIN (${options}, FORMAT JSON) ${text}`,
        values as unknown[],
      );
      return nodesOf(rows[0]!['QUERY PLAN'][0].Plan);
    } finally {
      await client.query('ROLLBACK');
    }
  };
  const buffersOf = ([top]: PlanNode[]) => top!['Shared Hit Blocks']! + top!['Shared Read Blocks']!;
  const claimBuffers = async (params: ClaimParams) => buffersOf(await explain(claimJobs, params));
  /** leastBuffers is the least of three claims: each is rolled back, and the next one cleans up behind it in the index. */
  const leastBuffers = async () => {
    const claims: number[] = [];
    for (let i = 0; i < 3; i += 1) claims.push(await claimBuffers(claimParams()));
    return Math.min(...claims);
  };
  const readsAll = (nodes: PlanNode[]) =>
    nodes.filter((node) => node['Node Type'] === 'Seq Scan' && node['Relation Name'] === 'job');

  const SETTINGS = [
    STORE_SESSION,
    'SET enable_seqscan = on',
    'SET enable_hashjoin = off',
    'SET enable_mergejoin = off',
    'SET enable_nestloop = off',
    'SET enable_bitmapscan = off',
    'SET enable_indexscan = off; SET enable_indexonlyscan = off',
    'SET enable_indexscan = off; SET enable_bitmapscan = off',
    'SET enable_sort = off; SET enable_incremental_sort = off',
    'SET enable_material = off; SET enable_memoize = off',
    'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0',
  ];

  it.each(SETTINGS)(
    'Q11: takes and locks exactly the limit, with stale statistics and a generic plan: %s',
    async (setting) => {
      await client.query(
        `ALTER TABLE ${JOB} SET (autovacuum_enabled = off); SET plan_cache_mode = force_generic_plan; ${setting}`,
      );
      await insert(1);
      await client.query(`ANALYZE ${JOB}`);
      const executor = new PgExecutor(client);
      await claimJobs.run(executor, SCHEMA, claimParams({ limit: 1 }));
      await insert(5_000, { priority: 'i % 10' });
      await client.query('BEGIN');
      const { rows } = await claimJobs.run(executor, SCHEMA, claimParams({ limit: 7, limits: [50] }));
      expect(rows).toHaveLength(7);
      const [free] = await database.adminQuery<{ n: number }>(
        `SELECT count(*)::int AS n FROM (SELECT FROM ${JOB} WHERE state = 0 FOR UPDATE SKIP LOCKED) f`,
      );
      expect(free!.n).toBe(5_000 - 7);
      await client.query('ROLLBACK');
      expect(await claimJobs.run(executor, SCHEMA, claimParams({ limit: 50, limits: [7] }))).toMatchObject({
        rowCount: 7,
      });
    },
  );

  it('trap 1: no statement of the store reads the whole table, with a plan made while it was small', async () => {
    await client.query(
      `ALTER TABLE ${JOB} SET (autovacuum_enabled = off); SET plan_cache_mode = force_generic_plan; ${STORE_SESSION}`,
    );
    await insert(1);
    await client.query(`ANALYZE ${JOB}`);
    const kinds = [KIND];
    const statements: [Statement<never, unknown>, unknown, string][] = [
      [claimJobs, claimParams(), 'job_claim'],
      [claimSuspect, { kinds, leaseMs: [1], owner: 'worker', token: TOKEN }, 'job_suspects'],
      [completeJobs, { ids: ['1'], outcomes: {}, tokens: { 1: TOKEN } }, 'job_pk'],
      [settleJobs, { ids: ['1'], settlements: `{"1":{"verb":"giveBack","token":"${TOKEN}"}}` }, 'job_pk'],
      [reapJobs, { kinds, limit: 10 }, 'job_leases'],
      [giveBackClaim, { token: TOKEN }, 'job_leases'],
      [renewLeases, { ids: ['1'], leaseMs: 1, tokens: [TOKEN] }, 'job_pk'],
      [readAttempt, { attempt: 1, jobId: '1', token: TOKEN }, 'job_pk'],
    ];
    const checkPlans = async () => {
      for (const [statement, params, index] of statements) {
        const { name, values } = statement.bind(SCHEMA, params as never);
        const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
          `EXPLAIN (FORMAT JSON) EXECUTE "${name}" (${values.map(literalOf).join(', ')})`,
        );
        const nodes = nodesOf(rows[0]!['QUERY PLAN'][0].Plan);
        expect({ name, reads: readsAll(nodes) }).toEqual({ name, reads: [] });
        expect(nodes.map((node) => node['Index Name'])).toContain(index);
      }
    };
    for (const [statement, params] of statements) {
      const bound = statement.bind(SCHEMA, params as never);
      await client.query(`PREPARE "${bound.name}" AS ${bound.text}`);
    }
    await checkPlans();
    await insert(20_000);
    await checkPlans();
  });

  it('trap 1: control connections are pinned to plans that use an index', async () => {
    const connections = new ControlConnections(
      { connectionString: database.url },
      { applicationName: 'pinned', deadlineMs: 10_000, max: 1 },
    );
    const { rows } = await connections.query<{ enable_seqscan: string }>('SHOW enable_seqscan');
    expect(rows).toEqual([{ enable_seqscan: 'off' }]);
    await connections.close();
  });

  it('Q14: a claim costs the same whatever else is in the table: finished, later, of another kind, of another priority', async () => {
    await client.query(STORE_SESSION);
    await insert(1_000);
    await client.query(`VACUUM ANALYZE ${JOB}`);
    const alone = await leastBuffers();
    await bulk(async () => {
      await insert(300_000, { attempt: '1', finished_at: `now() - i * interval '1 millisecond'`, state: '2' });
      await insert(300_000, { due_at: `now() + interval '1 day' + i * interval '1 millisecond'` });
      await insert(300_000, { due_at: `now() - interval '1 day'`, kind: `'another.job'` });
      await insert(300_000, { due_at: `now() - interval '1 day'`, priority: '9' });
    });
    const among = await leastBuffers();
    // A deeper tree costs 1.4 times as much, and the server's own vacuum may add to that; to walk past what is not claimed costs a hundred times.
    expect(among / alone).toBeLessThan(2);
  });

  it('Q14: a quick look starts behind the dead entries at the head of the index while an old transaction keeps them there', async () => {
    await client.query(STORE_SESSION);
    await insert(100);
    const alone = await claimBuffers(claimParams());
    const old = await database.client();
    await old.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
    await bulk(async () => {
      await insert(300_000, { due_at: `now() - interval '1 hour'` });
      await client.query(
        `UPDATE ${JOB} SET state = 2, finished_at = now() WHERE due_at < now() - interval '30 minutes'`,
      );
    }, 'holdfast.job_claim');
    const marks = new LowWaterMarks();
    const executor = new PgExecutor(client);
    marks.remember((await claimJobs.run(executor, SCHEMA, claimParams({ ...marks.of([KIND], true), limit: 1 }))).rows);
    await client.query(`UPDATE ${JOB} SET due_at = due_at - interval '2 seconds'`);
    await insert(100);
    const full = await claimBuffers(claimParams(marks.of([KIND], true)));
    const quick = await claimBuffers(claimParams(marks.of([KIND], false)));
    expect(full).toBeGreaterThan(alone * 3);
    expect(quick / alone).toBeLessThan(1.5);
    await old.query('ROLLBACK');
  });
});

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

function literalOf(value: unknown): string {
  const text = Array.isArray(value)
    ? `{${value.map((item) => JSON.stringify(String(item))).join(',')}}`
    : String(value);
  return `'${text.replaceAll("'", "''")}'`;
}
