import { MigrationFailedError, Migrator, type Migration } from '@holdfast/kernel';
import { createEmptyDatabase, type TestDatabase } from '@holdfast/testing';
import { escapeIdentifier, type Client, type DatabaseError } from 'pg';
import { enqueueGrantsFor, grantsFor, queueMigrations } from '../src/index.js';
import { CHECK_FUNCTIONS, QUEUE_FUNCTIONS, QUEUE_TABLES, TRIGGER_FUNCTIONS } from '../src/queue/queue.objects.js';

const TOKEN = '00000000-0000-4000-8000-000000000001';
const DENIED = '42501';

/** The schema and every role have names that must be quoted; public is closed, and no search path helps. */
const schema = 'The "Queue"';
const at = escapeIdentifier(schema);
const keyed = (key: string, version = 1) =>
  `SELECT * FROM ${at}.enqueue_keyed('demo.job', NULL, '${key}', 5::smallint, NULL, 8, '{}', ${version}::smallint, false, false)`;

describe('roles of few rights', () => {
  let database: TestDatabase;
  let owner: Client;
  const roles: string[] = [];

  const login = async (what: string, grants: (schema: string, role: string) => string[]): Promise<Client> => {
    const role = `${database.name} "${what}"`;
    await database.adminQuery(`CREATE ROLE ${escapeIdentifier(role)} LOGIN PASSWORD 'holdfast'`);
    await database.adminQuery(`ALTER ROLE ${escapeIdentifier(role)} SET search_path = ''`);
    roles.push(role);
    for (const statement of grants(schema, role)) await owner.query(statement);
    return connect(role);
  };
  const connect = (user: string): Promise<Client> => {
    const { hostname, port } = new URL(database.url);
    const account = { host: hostname, password: 'holdfast', port: Number(port), user };
    return database.client({ ...account, connectionString: undefined, database: database.name });
  };
  const outcome = (client: Client, text: string) =>
    client.query(text).then(
      ({ rowCount }) => rowCount,
      (error: DatabaseError) => error.code,
    );

  beforeAll(async () => {
    database = await createEmptyDatabase();
    await database.adminQuery('REVOKE ALL ON SCHEMA public FROM PUBLIC');
    const role = await database.createRole();
    await database.adminQuery(`CREATE SCHEMA ${at} AUTHORIZATION ${role.name}`);
    owner = await database.client({ connectionString: role.url });
    await new Migrator(owner, { migrations: queueMigrations, schema }).up();
  });

  beforeEach(() => database.adminQuery(`TRUNCATE ${QUEUE_TABLES.map((table) => `${at}.${table}`).join(', ')}`));

  afterAll(async () => {
    for (const role of roles) {
      await database.adminQuery(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1 AND pid <> pg_backend_pid()`,
        [role],
      );
      await database.adminQuery(`DROP OWNED BY ${escapeIdentifier(role)}`);
      await database.adminQuery(`DROP ROLE ${escapeIdentifier(role)}`);
    }
    await database.drop();
  });

  it('C2: the grants know every table and function, and nothing is open to everybody', async () => {
    const tables = await database.adminQuery<{ relname: string }>(
      `SELECT relname FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p', 'v', 'm') AND relname <> 'migration'
       ORDER BY relname COLLATE "C"`,
      [at],
    );
    const functions = await database.adminQuery<{ open: boolean; proname: string }>(
      `SELECT proname, has_function_privilege('public', oid, 'EXECUTE') AS open FROM pg_proc WHERE pronamespace = $1::regnamespace
       ORDER BY proname COLLATE "C"`,
      [at],
    );
    expect(tables.map(({ relname }) => relname)).toEqual([...QUEUE_TABLES]);
    const closed = QUEUE_FUNCTIONS.map((proname) => ({ open: false, proname }));
    expect(functions).toEqual([
      ...closed,
      ...[...CHECK_FUNCTIONS, ...TRIGGER_FUNCTIONS].map((proname) => ({ open: true, proname })),
    ]);
    const open = await database.adminQuery(
      `SELECT relname FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r'
         AND has_table_privilege('public', oid, 'SELECT, INSERT, UPDATE, DELETE')`,
      [at],
    );
    expect(open).toEqual([]);
  });

  describe('an application', () => {
    let app: Client;

    beforeAll(async () => {
      app = await login('app', grantsFor);
    });

    it('C2: enqueues, runs and operates', async () => {
      expect(await outcome(app, `INSERT INTO ${at}.job (kind, payload) VALUES ('demo.job', '{}') RETURNING id`)).toBe(
        1,
      );
      expect(await outcome(app, keyed('k'))).toBe(1);
      expect(await outcome(app, `SELECT * FROM ${at}.intake_requests(10)`)).toBe(1);
      const claim = `attempt = 1, state = 1, lease_token = '${TOKEN}', lease_owner = 'me', lease_until = now(), claimed_at = now()`;
      expect(await outcome(app, `UPDATE ${at}.job SET ${claim}`)).toBe(2);
      await app.query(`BEGIN; SET LOCAL holdfast.run = '${TOKEN}'`);
      expect(await outcome(app, `SELECT ${at}.complete_run(id, '${TOKEN}', NULL) FROM ${at}.job`)).toBe(2);
      await app.query('COMMIT');
      for (const table of QUEUE_TABLES)
        expect(await outcome(app, `DELETE FROM ${at}.${table}`)).toEqual(expect.any(Number));
    });

    it('C2: does not migrate: it checks, and finds nothing to do', async () => {
      const migrator = new Migrator(app, { migrations: queueMigrations, schema });
      await migrator.check();
      expect(await migrator.up()).toEqual([]);
      const later: Migration = {
        ...queueMigrations.at(-1)!,
        id: '9999-later',
        up: (name) => [`CREATE TABLE ${name.of('x')} ()`],
      };
      const error = await new Migrator(app, { migrations: [...queueMigrations, later], schema })
        .up()
        .catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(MigrationFailedError);
      expect(error).toMatchObject({ cause: { code: DENIED }, migration: '9999-later' });
    });

    it.each([
      `CREATE TABLE ${at}.mine (id int)`,
      `CREATE FUNCTION ${at}.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'`,
      `ALTER TABLE ${at}.job ADD COLUMN mine int`,
      `DROP TABLE ${at}.job`,
      `TRUNCATE ${at}.job`,
      `CREATE INDEX ON ${at}.job (id)`,
      `DELETE FROM ${at}.migration`,
      `INSERT INTO ${at}.migration (part, id, checksum) VALUES ('queue', '9999-x', '')`,
      `SELECT setval('${at}.job_id', 1)`,
      `CREATE TABLE public.mine (id int)`,
    ])('C2: may not: %s', async (text) => {
      expect(await outcome(app, text)).toBe(DENIED);
    });
  });

  describe('a producer', () => {
    let producer: Client;

    beforeAll(async () => {
      producer = await login('producer', enqueueGrantsFor);
    });

    it.each(['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'])(
      'Q9: enqueues, with a key and without, under %s',
      async (level) => {
        await producer.query(`BEGIN ISOLATION LEVEL ${level}`);
        const plain = `INSERT INTO ${at}.job (kind, payload, priority, tenant_id) VALUES ('demo.job', '{}', 1, 't') RETURNING id`;
        expect(await outcome(producer, plain)).toBe(1);
        expect(await outcome(producer, keyed('k'))).toBe(1);
        expect(await outcome(producer, keyed('k'))).toBe(1);
        await producer.query('COMMIT');
        expect(await outcome(owner, `SELECT FROM ${at}.intake_requests(10)`)).toBe(1);
        expect(await outcome(owner, `SELECT FROM ${at}.job`)).toBe(2);
      },
    );

    it('C2: checks the schema at its start', async () => {
      await new Migrator(producer, { migrations: queueMigrations, schema }).check();
    });

    it.each([
      `SELECT payload FROM ${at}.job`,
      `SELECT * FROM ${at}.job_request`,
      `INSERT INTO ${at}.job (kind, payload, state, finished_at) VALUES ('demo.job', '{}', 2, now())`,
      `INSERT INTO ${at}.job (kind, payload, dedupe_key) VALUES ('demo.job', '{}', 'k')`,
      `INSERT INTO ${at}.job_request (kind, dedupe_key, payload) VALUES ('demo.job', 'k', '{}')`,
      `UPDATE ${at}.job SET due_at = now()`,
      `DELETE FROM ${at}.job`,
      `SELECT ${at}.intake_requests(10)`,
      `SELECT ${at}.complete_run(1, '${TOKEN}', NULL)`,
      `DELETE FROM ${at}.migration`,
      `CREATE TABLE ${at}.mine (id int)`,
    ])('Q9: may not: %s', async (text) => {
      expect(await outcome(producer, text)).toBe(DENIED);
    });

    it('Q9: nothing in its search path or its temporary schema takes the place of what the function means', async () => {
      const hostile = await connect(String(producer.user));
      await hostile.query(`CREATE DOMAIN pg_temp.text AS pg_catalog.text CHECK (false)`);
      await hostile.query('SET search_path = pg_temp, pg_catalog');
      expect(await outcome(hostile, keyed('hidden'))).toBe(1);
      expect(await outcome(owner, `SELECT FROM ${at}.job WHERE dedupe_key = 'hidden'`)).toBe(1);
    });
  });

  it('C2: a role without grants finds every door closed', async () => {
    const stranger = await login('stranger', () => []);
    for (const text of [`SELECT FROM ${at}.job`, keyed('k'), `SELECT nextval('${at}.job_id')`]) {
      expect(await outcome(stranger, text)).toBe(DENIED);
    }
  });
});
