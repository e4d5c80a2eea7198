import type { Statement } from '@holdfast/kernel';
import type { JobPage, ListOptions } from '../../src/domain/job.listing.js';
import { InvalidFilterError } from '../../src/errors/invalid-filter.error.js';
import type { PostgresJobs } from '../../src/postgres/postgres.jobs.js';
import { findFinished } from '../../src/postgres/sql/find-finished.sql.js';
import { listFinished, listPending, listRunning, listSuspects } from '../../src/postgres/sql/list-jobs.sql.js';
import { SCHEMA } from '../store.harness.js';
import { JOB, JobsStand } from './jobs.stand.js';

describe('Jobs.list', () => {
  let stand: JobsStand;
  let jobs: PostgresJobs;

  beforeEach(async () => {
    stand = await JobsStand.open();
    jobs = stand.jobs();
  });
  afterEach(() => stand.close());

  const idsOf = ({ jobs: listed }: JobPage) => listed.map(({ id }) => id);

  /** every walks all pages. */
  const every = async (options: ListOptions): Promise<string[]> => {
    const ids: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await jobs.list({ ...options, cursor });
      expect(page.jobs.length).toBeLessThanOrEqual(options.limit ?? 50);
      ids.push(...idsOf(page));
      ({ cursor } = page);
    }
    return ids;
  };

  it('A1: lists what runs, what waits in the order of its runs, then what has ended, the last first; each by state, kind, tenant and code', async () => {
    const old = await stand.seed({ finishedAgoS: 100, kind: 'b.b', state: 'SUCCEEDED' });
    const refused = await stand.seed({ errorCode: 'mail.refused', state: 'FAILED' });
    const young = await stand.seed({ finishedAgoS: 10, kind: 'a.a', state: 'SUCCEEDED' });
    const dead = await stand.seed({ errorCode: 'mail.down', state: 'DEAD_LETTER', tenantId: 'acme' });
    const cancelled = await stand.seed({ state: 'CANCELLED' });
    const later = await stand.seed({ dueInS: 60, kind: 'a.a', state: 'PENDING' });
    const sooner = await stand.seed({ dueInS: 30, kind: 'a.a', state: 'PENDING', tenantId: 'acme' });
    const last = await stand.seed({ dueInS: 90, kind: 'a.a', state: 'PENDING', tenantId: 'acme' });
    const running = await stand.seed({ kind: 'b.b', state: 'RUNNING' });
    const suspect = await stand.seed({ state: 'PENDING' });
    await stand.database.adminQuery(`UPDATE ${JOB} SET suspect = true WHERE id = $1`, [suspect]);

    const all = [running, sooner, later, last, suspect, dead, refused, cancelled, young, old];
    expect(await every({})).toEqual(all);
    for (const limit of [1, 2, 4]) expect(await every({ limit })).toEqual(all);
    expect(await every({ state: 'PENDING' })).toEqual([sooner, later, last, suspect]);
    expect(await every({ state: 'SUCCEEDED' })).toEqual([young, old]);
    expect(await every({ kind: 'a.a', limit: 1 })).toEqual([sooner, later, last, young]);
    expect(await every({ kind: 'b.b' })).toEqual([running, old]);
    for (const limit of [1, 2, 50]) expect(await every({ limit, tenantId: 'acme' })).toEqual([sooner, last, dead]);
    expect(await every({ errorCode: 'mail.refused' })).toEqual([refused]);
    expect(await every({ kind: 'none.such' })).toEqual([]);
    expect((await jobs.list({ limit: 1, state: 'DEAD_LETTER' })).jobs[0]).toMatchObject({
      attempt: 1,
      errorCode: 'mail.down',
      state: 'DEAD_LETTER',
      tenantId: 'acme',
    });
  });

  it('A1: a job that does not change is on exactly one page, whatever comes and goes meanwhile', async () => {
    const kept: string[] = [];
    for (let i = 0; i < 30; i += 1)
      kept.push(await stand.seed({ finishedAgoS: 100 + i, kind: `k.k${i % 3}`, state: 'DEAD_LETTER' }));
    const seen: string[] = [];
    let cursor: string | null | undefined;
    for (let page = 0; cursor !== null; page += 1) {
      const answer = await jobs.list({ cursor, limit: 4, state: 'DEAD_LETTER' });
      seen.push(...idsOf(answer));
      ({ cursor } = answer);
      await stand.seed({ kind: 'k.k9', state: 'DEAD_LETTER' });
      await stand.seed({ finishedAgoS: 105.5, kind: 'a.a', state: 'DEAD_LETTER' });
      if (page === 2) await stand.database.adminQuery(`DELETE FROM ${JOB} WHERE id = $1`, [seen.at(-1)]);
    }
    expect(seen.filter((id) => kept.includes(id))).toEqual(kept);
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('K147: a list never loads payloads: a thousand of a megabyte cost what small ones cost', async () => {
    const big = await stand.seed({ kind: 'big.job', state: 'DEAD_LETTER' });
    await stand.database.adminQuery(
      `UPDATE ${JOB} SET payload = json_build_object('text', repeat(md5(random()::text), 32768)) WHERE id = $1`,
      [big],
    );
    await stand.database.adminQuery(
      `INSERT INTO ${JOB} (kind, payload, state, attempt, finished_at)
         SELECT kind, payload, state, attempt, finished_at FROM ${JOB}, generate_series(1, 999) i`,
    );
    const client = await stand.database.client();
    const { text, values } = listFinished.bind(SCHEMA, params(4, 501, ['400000000000000000', '9223372036854775807']));
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ${text}`,
      values as unknown[],
    );
    const plan = rows[0]!['QUERY PLAN'][0].Plan;
    // A payload out of line is hundreds of pages, even compressed some six: 500 of them would be thousands.
    expect(plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!).toBeLessThan(3_500);
    const page = await jobs.list({ limit: 500 });
    expect(page.jobs).toHaveLength(500);
    expect(JSON.stringify(page).length).toBeLessThan(500_000);
  });

  it('A1: a tenant among many is found in pages that each look at a bounded number of jobs', async () => {
    await stand.database.adminQuery(
      `INSERT INTO ${JOB} (kind, payload, tenant_id, due_at)
         SELECT 'many.job', '{}', CASE WHEN i % 5000 = 0 THEN 'acme' ELSE 'other' END, now() + i * interval '1 ms' FROM generate_series(1, 10000) i`,
    );
    let pages = 0;
    const found: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; pages += 1) {
      const page: JobPage = await jobs.list({ cursor, state: 'PENDING', tenantId: 'acme' });
      found.push(...idsOf(page));
      ({ cursor } = page);
    }
    expect(found).toHaveLength(2);
    expect(pages).toBeGreaterThanOrEqual(5);
    expect(pages).toBeLessThan(9);
  });

  it.each<[string, unknown]>([
    ['limit', { limit: 0 }],
    ['limit', { limit: 501 }],
    ['limit', { limit: 1.5 }],
    ['state', { state: 'DONE' }],
    ['kind', { kind: 'Not A Kind' }],
    ['tenantId', { tenantId: '' }],
    ['errorCode', { errorCode: 'x\0' }],
    ['order', { order: 'id' }],
    ['cursor', { cursor: 'garbage' }],
    ['cursor', { cursor: Buffer.from('["dead","1"]').toString('base64url') }],
    ['cursor', { cursor: Buffer.from('["dead","1; DROP","1"]').toString('base64url') }],
    ['cursor', { cursor: Buffer.from('["dead","400000000000000001","1"]').toString('base64url') }],
    ['cursor', { cursor: Buffer.from('["pending"]').toString('base64url'), state: 'FAILED' }],
  ])('A1: refuses what cannot be asked, and names it: %s', async (field, options) => {
    const refusal = await jobs.list(options as ListOptions).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(InvalidFilterError);
    expect(refusal).toMatchObject({ code: 'queue.filter_refused', field });
  });

  it('A1: a page is served by an index, with 300 000 rows and a plan that was made for one', async () => {
    const client = await stand.database.client();
    await client.query(`ALTER TABLE ${JOB} SET (autovacuum_enabled = off); SET plan_cache_mode = force_generic_plan`);
    await client.query('SET enable_seqscan = off; SET jit = off');
    await stand.seed({ state: 'PENDING' });
    await client.query(`ANALYZE ${JOB}`);
    const far = ['400000000000000000', '9223372036854775807'];
    const live = ['', '-100000000000000000', '0'];
    const statements: [Statement<never, unknown>, unknown, string][] = [
      [listFinished, params(2, 51, far), 'job_ended'],
      [listPending, params(0, 51, ['', '-1', '-100000000000000000', '0']), 'job_claim'],
      [listSuspects, params(0, 51, live), 'job_suspects'],
      [listRunning, params(1, 51, live), 'job_leases'],
      [
        findFinished,
        { firstKind: '', lastKind: '~', limit: 200, olderThanMs: 0, state: 2, tenantId: null },
        'job_ended',
      ],
    ];
    for (const [statement, values] of statements) {
      const bound = statement.bind(SCHEMA, values as never);
      await client.query(`PREPARE "${bound.name}" AS ${bound.text}`);
    }
    await client.query(
      `INSERT INTO ${JOB} (kind, payload, state, attempt, finished_at, due_at)
         SELECT 'kind.k' || i % 7, '{}', CASE WHEN i % 3 = 0 THEN 0 ELSE 2 END, CASE WHEN i % 3 = 0 THEN 0 ELSE 1 END,
             CASE WHEN i % 3 > 0 THEN now() - i * interval '1 ms' END, now() + i * interval '1 ms'
           FROM generate_series(1, 300000) i`,
    );
    for (const [statement, values, index] of statements) {
      const { name, values: given } = statement.bind(SCHEMA, values as never);
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE "${name}" (${(given as string[]).map(literalOf).join(', ')})`,
      );
      const [top, ...rest] = nodesOf(rows[0]!['QUERY PLAN'][0].Plan);
      const nodes = [top!, ...rest];
      expect(nodes.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([]);
      expect(nodes.map((node) => node['Index Name'])).toContain(index);
      const buffers = (top!['Shared Hit Blocks'] ?? 0) + (top!['Shared Read Blocks'] ?? 0);
      expect(buffers < 2_500 ? name : `${name}: ${buffers} buffers`).toBe(name);
    }
  });

  const params = (state: number, scan: number, key: string[]) => ({
    errorCode: null,
    firstKind: '',
    key,
    lastKind: '~',
    limit: scan - 1,
    scan,
    state,
    tenantId: null,
  });
});

interface PlanNode {
  readonly 'Index Name'?: string;
  readonly 'Node Type': string;
  readonly Plans?: PlanNode[];
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

function literalOf(value: number | string | readonly string[] | null): string {
  if (value === null) return 'NULL';
  const text = typeof value === 'object' ? `{${value.map((item) => JSON.stringify(item)).join(',')}}` : String(value);
  return `'${text.replaceAll("'", "''")}'`;
}
