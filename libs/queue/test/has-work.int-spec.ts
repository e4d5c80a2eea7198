import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import type { PostgresJobStore } from '../src/postgres/postgres.job-store.js';
import { postgresStore } from './store.harness.js';

const LEASE = `attempt, state, lease_token, lease_owner, lease_until, claimed_at`;
const leased = (until: string) => `1, 1, gen_random_uuid(), 'a worker', now() ${until}, now()`;

describe('hasWork', () => {
  let db: TestDatabase;
  let store: PostgresJobStore;

  beforeAll(async () => {
    db = await createTestDatabase();
    store = postgresStore(db);
  });
  afterEach(() => db.adminQuery('TRUNCATE holdfast.job, holdfast.job_request'));
  afterAll(async () => {
    await store.close();
    await db.drop();
  });

  it.each<[string, boolean, string]>([
    ['nothing', false, 'SELECT 1'],
    ['a due job', true, `INSERT INTO holdfast.job (kind, payload, priority) VALUES ('mail.send', '{}', 9)`],
    [
      'a later job',
      false,
      `INSERT INTO holdfast.job (kind, payload, due_at) VALUES ('mail.send', '{}', now() + interval '1h')`,
    ],
    ['a job of another kind', false, `INSERT INTO holdfast.job (kind, payload) VALUES ('other.kind', '{}')`],
    ['a due suspect', true, `INSERT INTO holdfast.job (kind, payload, suspect) VALUES ('mail.send', '{}', true)`],
    [
      'a lease that ran out',
      true,
      `INSERT INTO holdfast.job (kind, payload, ${LEASE}) VALUES ('mail.send', '{}', ${leased("- interval '1s'")})`,
    ],
    [
      'a lease that holds',
      false,
      `INSERT INTO holdfast.job (kind, payload, ${LEASE}) VALUES ('mail.send', '{}', ${leased("+ interval '1h'")})`,
    ],
    [
      'a request',
      true,
      `INSERT INTO holdfast.job_request (kind, payload, dedupe_key) VALUES ('other.kind', '{}', 'a key')`,
    ],
  ])('R18, P8: with %s it answers %p', async (_what, waits, statement) => {
    await db.adminQuery(statement);
    expect(await store.hasWork(['mail.later', 'mail.send'])).toBe(waits);
  });

  it('K33: a server that only reads, as after a failover, refuses to answer, so that an idle process leaves it', async () => {
    expect(await store.hasWork(['mail.send'])).toBe(false);
    await db.adminQuery(`ALTER DATABASE ${db.name} SET default_transaction_read_only = on`);
    await db.terminateBackends(`application_name LIKE 'holdfast%'`);
    await expect(store.hasWork(['mail.send'])).rejects.toMatchObject({ code: 'kernel.connection_lost' });
    await db.adminQuery('SET default_transaction_read_only = off');
    await db.adminQuery(`ALTER DATABASE ${db.name} RESET default_transaction_read_only`);
    expect(await store.hasWork(['mail.send'])).toBe(false);
  });
});
