import type { Client } from 'pg';
import type { Statement } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import { findExpired } from '../../src/postgres/sql/find-expired.sql.js';
import { findStrayRunRows } from '../../src/postgres/sql/find-stray-run-rows.sql.js';
import { sweepJobs, type SweepJobsParams } from '../../src/postgres/sql/sweep-jobs.sql.js';
import { SCHEMA } from '../store.harness.js';
import { finish } from './finished.jobs.js';

interface PlanNode {
  readonly 'Index Name'?: string;
  readonly 'Node Type': string;
  readonly Plans?: PlanNode[];
  readonly 'Relation Name'?: string;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
}

/** What the sessions of control connections are pinned to. */
const SESSION = 'SET enable_seqscan = off; SET jit = off; SET plan_cache_mode = force_generic_plan';
const LOOK = { after: '', keepMs: [86_400_000], kinds: 200, states: [2] };

describe('plans of retention', () => {
  let db: TestDatabase;
  let client: Client;

  beforeEach(async () => {
    db = await createTestDatabase();
    client = await db.client();
    await client.query(SESSION);
    for (const table of ['job', 'job_alias', 'job_hold', 'job_progress', 'job_renewal'])
      await client.query(`ALTER TABLE ${SCHEMA.of(table)} SET (autovacuum_enabled = off)`);
  });
  afterEach(() => db.drop());

  const batch = (kind: string): SweepJobsParams => ({
    afterId: '0',
    afterMicros: null,
    keepMs: 86_400_000,
    kind,
    limit: 100,
    state: 2,
  });

  /** plan prepares a statement, as a connection of the store keeps it, runs it and takes it back, and answers the nodes of its plan. */
  const plan = async <P>(statement: Statement<P, unknown>, params: P): Promise<PlanNode[]> => {
    const { name, text, values } = statement.bind(SCHEMA, params);
    await client.query(`PREPARE "${name}" AS ${text}`).catch((error: { code?: string }) => {
      if (error.code !== '42P05') throw error;
    });
    await client.query('BEGIN');
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE "${name}" (${values.map(literalOf).join(', ')})`,
    );
    await client.query('ROLLBACK');
    return nodesOf(rows[0]!['QUERY PLAN'][0].Plan);
  };
  const buffers = async (params: SweepJobsParams) => {
    const [top] = await plan(sweepJobs, params);
    return top!['Shared Hit Blocks'] + top!['Shared Read Blocks'];
  };

  it('S5, trap 1: no statement of retention reads a whole table, with a plan made while it was small', async () => {
    await finish(db, { age: '2 days', kind: 'a.job' });
    await client.query(`ANALYZE ${SCHEMA.of('job')}`);
    const check = async () => {
      const statements: [Statement<never, unknown>, unknown, readonly string[]][] = [
        [findExpired, LOOK, ['job_ended', 'job_retention_pk']],
        [
          sweepJobs,
          batch('a.job'),
          ['job_ended', 'job_alias_job', 'job_pk', 'job_hold_pk', 'job_progress_pk', 'job_renewal_pk'],
        ],
        [findStrayRunRows, { limit: 10 }, ['job_pk']],
      ];
      for (const [statement, params, indexes] of statements) {
        const nodes = await plan(statement, params as never);
        expect(nodes.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([]);
        expect(nodes.map((node) => node['Index Name'])).toEqual(expect.arrayContaining([...indexes]));
      }
    };
    await check();
    await finish(db, { age: '2 days', count: 20_000, kind: 'a.job' });
    await check();
  });

  it('S5: a batch costs the same whatever else has ended: of other kinds, other states, kept for longer', async () => {
    await finish(db, { age: '2 days', count: 100, kind: 'm.job' });
    const alone = await buffers(batch('m.job'));
    await finish(db, { age: '3 days', count: 20_000, kind: 'a.kept' });
    await finish(db, { age: '3 days', count: 20_000, kind: 'm.job', state: 'DEAD_LETTER' });
    await finish(db, { age: '1 hour', count: 20_000, kind: 'm.job' });
    const among = await buffers(batch('m.job'));
    expect(among).toBeLessThan(alone * 1.5 + 50);
    const [look] = await plan(findExpired, LOOK);
    expect(look!['Shared Hit Blocks'] + look!['Shared Read Blocks']).toBeLessThan(100);
  });

  it('S5: a batch goes on where the one before ended, past the dead entries that a long transaction keeps', async () => {
    await finish(db, { age: '2 days', count: 20_000, kind: 'a.job' });
    const [row] = (
      await client.query<{ micros: string }>(
        `SELECT (extract(epoch FROM finished_at) * 1000000)::bigint::text AS micros FROM ${SCHEMA.of('job')} ORDER BY finished_at OFFSET 18000 LIMIT 1`,
      )
    ).rows;
    const holder = await db.client();
    await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await holder.query(`SELECT FROM ${SCHEMA.of('job')} LIMIT 1`);
    const { text, values } = sweepJobs.bind(SCHEMA, { ...batch('a.job'), limit: 18_000 });
    await client.query(text, [...values]);
    const fromStart = await buffers(batch('a.job'));
    const fromMark = await buffers({ ...batch('a.job'), afterMicros: row!.micros });
    expect(fromStart).toBeGreaterThan(2 * fromMark);
  });
});

function literalOf(value: unknown): string {
  if (value === null) return 'NULL';
  if (Array.isArray(value)) return `'{${value.map((one) => (one === null ? 'NULL' : String(one))).join(',')}}'`;
  return `'${typeof value === 'string' ? value : JSON.stringify(value)}'`;
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}
