import {
  ControlConnections,
  pgPool,
  SchemaName,
  type Database,
  type SqlExecutor,
  type Transaction,
} from '@holdfast/kernel';
import { executorOf } from '@holdfast/kernel';
import { typeOrm } from '@holdfast/kernel/typeorm';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import { jobStateName } from '../src/domain/job-state.js';
import { PostgresJobStore } from '../src/postgres/postgres.job-store.js';
import type { InspectedJob, JobStoreHarness } from '../src/testing/job-store.harness.js';

/** SCHEMA is where the test databases keep Holdfast's tables. */
export const SCHEMA = new SchemaName('holdfast');

const POOL_SIZE = 12;
const TABLES = ['job', 'job_request', 'job_alias', 'job_renewal', 'job_hold', 'job_cancel', 'job_progress']
  .map((table) => SCHEMA.of(table))
  .join(', ');

interface InspectedRow extends Omit<InspectedJob, 'failures' | 'state'> {
  readonly failures: readonly { at: string; attempt: number; class?: string; code: string; message?: string }[] | null;
  readonly state: number;
}

/** postgresStore makes a store on connections of its own to a test database. */
export function postgresStore(database: TestDatabase, Store = PostgresJobStore): PostgresJobStore {
  const config = { connectionString: database.url };
  return new Store({
    connections: new ControlConnections(config, { applicationName: 'holdfast-control', deadlineMs: 20_000, max: 4 }),
    keeper: new ControlConnections(config, { applicationName: 'holdfast-keeper', deadlineMs: 20_000, max: 1 }),
    schema: SCHEMA,
  });
}

/** postgresHarness makes the harness of a PostgresJobStore whose application uses a pool of `pg`, or TypeORM. */
export async function postgresHarness(using: 'pg' | 'typeorm', Store = PostgresJobStore): Promise<JobStoreHarness> {
  const database = await createTestDatabase();
  await database.adminQuery('CREATE TABLE effect (text text, UNIQUE (text) DEFERRABLE INITIALLY DEFERRED)');
  const application = await applicationOf(database, using);
  const store = postgresStore(database, Store);
  return {
    another: () => postgresStore(database, Store),
    application: {
      begin: (options) => application.database.begin(options),
      effect: async (transaction, text) => void (await transaction.sql.query('INSERT INTO effect VALUES ($1)', [text])),
      effects: async () =>
        (await database.adminQuery<{ text: string }>('SELECT text FROM effect')).map(({ text }) => text),
      executor: application.executor,
      requests: async () => (await database.adminQuery(`SELECT FROM ${SCHEMA.of('job_request')}`)).length,
      resolve: (id) => resolve(database, id),
    },
    clear: async () => {
      // What a failed test has left open must not keep the next one waiting.
      await database.terminateBackends(`state LIKE 'idle in transaction%'`);
      await database.adminQuery(`TRUNCATE ${TABLES}, effect`);
    },
    close: async () => {
      await store.close();
      await database.drop();
    },
    inspect: () => inspect(database),
    store,
  };
}

async function applicationOf(
  database: TestDatabase,
  using: 'pg' | 'typeorm',
): Promise<{ database: Database; executor: (transaction: Transaction) => SqlExecutor }> {
  if (using === 'pg')
    return { database: pgPool(database.pool({ max: POOL_SIZE })), executor: (transaction) => executorOf(transaction) };
  const source = await database.dataSource({ extra: { max: POOL_SIZE } });
  return { database: typeOrm(source), executor: (transaction) => executorOf(transaction.manager) };
}

async function inspect(database: TestDatabase): Promise<InspectedJob[]> {
  const rows = await database.adminQuery<InspectedRow & Record<string, unknown>>(`
    SELECT id::text, state, attempt, suspect, losses, outcome, refusal, payload, failures, error_code AS "errorCode",
        lease_token AS "leaseToken", deferred_since IS NOT NULL AS deferred,
        (extract(epoch FROM due_at - clock_timestamp()) * 1000)::float8 AS "dueInMs",
        (SELECT p.fraction FROM ${SCHEMA.of('job_progress')} p WHERE p.job_id = job.id AND p.claimed_at = job.claimed_at) AS progress
      FROM ${SCHEMA.of('job')} ORDER BY ${SCHEMA.of('job')}.id`);
  return rows.map((row) => ({
    ...row,
    failures: (row.failures ?? []).map(({ class: errorClass, ...rest }) => ({ ...rest, errorClass })),
    state: jobStateName(row.state),
  }));
}

async function resolve(database: TestDatabase, id: string): Promise<string | undefined> {
  const rows = await database.adminQuery<{ id: string }>(
    `WITH RECURSIVE named (id) AS (
       SELECT $1::bigint UNION ALL SELECT a.job_id FROM named n JOIN ${SCHEMA.of('job_alias')} a ON a.request_id = n.id
     ) SELECT j.id::text FROM named n JOIN ${SCHEMA.of('job')} j ON j.id = n.id`,
    [id],
  );
  return rows[0]?.id;
}
