import { ControlConnections } from '@holdfast/kernel';
import { grantsFor } from '@holdfast/migrations';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import { PostgresHousekeeping } from '../../src/postgres/postgres.housekeeping.js';
import { countDeferred } from '../../src/postgres/sql/count-deferred.sql.js';
import { SCHEMA } from '../store.harness.js';

describe('M3: what a role sees of PostgreSQL', () => {
  let db: TestDatabase;
  const opened: ControlConnections[] = [];

  beforeAll(async () => (db = await createTestDatabase()));
  afterAll(async () => {
    for (const connections of opened) await connections.close();
    await db.drop();
  });

  const housekeepingOf = (url: string) => {
    const settings = { applicationName: 'holdfast', deadlineMs: 20_000, max: 2 };
    const connections = new ControlConnections({ connectionString: url }, settings);
    opened.push(connections);
    return new PostgresHousekeeping(connections, SCHEMA);
  };

  it('M3: with the grants of an application alone it sees its own transactions, every snapshot, and the tables', async () => {
    const app = await db.createRole();
    for (const grant of grantsFor(SCHEMA.name, app.name)) await db.adminQuery(grant);
    const housekeeping = housekeepingOf(app.url);

    // A report of another role.
    const other = await db.client({ application_name: 'a report' });
    await other.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await other.query('SELECT txid_current()');
    for (let i = 0; i < 20; i += 1) await db.adminQuery(`INSERT INTO ${SCHEMA.of('job_alias')} VALUES (${i}, ${i})`);
    const alone = await housekeeping.databaseHealth();
    expect(alone.oldestTransaction).toBeUndefined();
    expect(alone.oldestXminAge).toBeGreaterThanOrEqual(20);
    expect(alone.deadRows).toHaveProperty('job');

    const own = await db.client({ application_name: 'a handler', connectionString: app.url });
    await own.query('BEGIN');
    await own.query('SELECT 1');
    expect((await housekeeping.databaseHealth()).oldestTransaction).toMatchObject({ applicationName: 'a handler' });

    await db.adminQuery(`GRANT pg_read_all_stats TO ${app.name}`);
    const all = await housekeepingOf(app.url).databaseHealth();
    expect(all.oldestTransaction).toMatchObject({
      applicationName: 'a report',
      holder: expect.stringMatching(/^process \d+ of the server \(application_name 'a report'\)$/),
    });
    await other.query('ROLLBACK');
    await own.query('ROLLBACK');
    await db.adminQuery(`REVOKE pg_read_all_stats FROM ${app.name}`);
  });

  it('M3, trap 1: the deferred jobs are counted by an index of their own, however many others there are', async () => {
    await db.adminQuery(
      `INSERT INTO ${SCHEMA.of('job')} (kind, payload, due_at) SELECT 'a.job', '{}', now() + interval '1 day' FROM generate_series(1, 20000)`,
    );
    await db.adminQuery(
      `INSERT INTO ${SCHEMA.of('job')} (kind, payload, deferred_since) SELECT 'b' || i % 2 || '.job', '{}', now() - i * interval '1 minute'
         FROM generate_series(1, 7) i`,
    );
    await db.adminQuery(`ANALYZE ${SCHEMA.of('job')}`);
    const housekeeping = housekeepingOf(db.url);
    const found = await housekeeping.deferrals();
    expect(found).toEqual([
      { deferred: 3, kind: 'b0.job', oldestAgeMs: expect.any(Number) },
      { deferred: 4, kind: 'b1.job', oldestAgeMs: expect.any(Number) },
    ]);
    expect(Math.round(found[1]!.oldestAgeMs / 60_000)).toBe(7);
    const client = await db.client();
    await client.query('SET enable_seqscan = off');
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${countDeferred.textFor(SCHEMA)}`);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).not.toMatch(/Seq Scan on job\b/);
    expect([...plan.matchAll(/Scan using (\w+)|Index Scan on (\w+)/g)].map(([, a, b]) => a ?? b)).toEqual(
      expect.arrayContaining(['job_deferred']),
    );
    expect(plan).not.toMatch(/job_claim|job_pk/);
  });
});
