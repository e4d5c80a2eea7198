import { createEmptyDatabase, type TestDatabase, type TestRole } from '@holdfast/testing';
import { escapeIdentifier } from 'pg';
import { Migrator, SchemaAccessError, SchemaMissingError } from '../src/index.js';
import { first, migration, second, third } from './sample.migrations.js';

const migrations = [first, second, third];

describe('Migrator as a role of few rights', () => {
  let database: TestDatabase;
  let role: TestRole;

  const as = (who: TestRole) => database.client({ connectionString: who.url });
  const outside = (schema: string) =>
    database.adminQuery(
      `SELECT c.oid::regclass::text AS object FROM pg_class AS c WHERE relnamespace <> coalesce(to_regnamespace($1)::oid, 0)
         AND relnamespace::regnamespace::text NOT LIKE 'pg\\_toast%' AND relnamespace::regnamespace::text NOT LIKE '%round%'
       UNION ALL SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace <> coalesce(to_regnamespace($1)::oid, 0)
       ORDER BY 1`,
      [escapeIdentifier(schema)],
    );

  beforeAll(async () => {
    database = await createEmptyDatabase();
    role = await database.createRole();
    await database.adminQuery('REVOKE ALL ON SCHEMA public FROM PUBLIC');
  });

  afterAll(() => database.drop());

  const names = [
    'UPPER-Case',
    'da-sh',
    'do.t',
    'quo"te',
    "apo'strophe",
    'back\\slash',
    'select',
    'ünï cödé',
    '$1 %s %I',
  ];

  it.each(names)('K127: the schema %s is made and filled, and nothing outside it', async (schema) => {
    await database.adminQuery(`GRANT CREATE ON DATABASE ${database.name} TO ${role.name}`);
    await database.adminQuery(`ALTER ROLE ${role.name} SET search_path = public`);
    const client = await as(role);
    const before = await outside(schema);
    const migrator = new Migrator(client, { migrations, schema });
    expect(await migrator.up()).toHaveLength(3);
    await migrator.check();
    expect(await outside(schema)).toEqual(before);
    expect(await migrator.down({ steps: 'all' })).toHaveLength(3);

    await client.query(await new Migrator(client, { migrations: [first, second], schema }).sql());
    expect(await new Migrator(client, { migrations, schema }).up()).toEqual(['0003-index']);
  });

  it('K127: a name without its schema is refused, not made in public', async () => {
    const careless = migration('0001-careless', ['CREATE TABLE stray (id int)'], []);
    const client = await database.client();
    await expect(new Migrator(client, { migrations: [careless], schema: 'careless' }).up()).rejects.toThrow('stray');
    expect(await database.adminQuery(`SELECT FROM pg_class WHERE relname = 'stray'`)).toEqual([]);
  });

  it('C2: a missing schema that may not be created is asked for, and used once it is there', async () => {
    const poor = await database.createRole();
    const client = await as(poor);
    const migrator = new Migrator(client, { migrations, schema: 'Asked for' });
    const error = await migrator.up().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SchemaMissingError);
    const remedy = /CREATE SCHEMA .*;/.exec((error as Error).message)?.[0] ?? '';
    await database.adminQuery(remedy);
    expect(await migrator.up()).toHaveLength(3);
  });

  it('C2: a role that may not read the history is told so', async () => {
    await new Migrator(await database.client(), { migrations, schema: 'closed' }).up();
    const stranger = await database.createRole();
    const migrator = new Migrator(await as(stranger), { migrations, schema: 'closed' });
    await expect(migrator.check()).rejects.toThrow(SchemaAccessError);
    await expect(migrator.up()).rejects.toThrow(SchemaAccessError);
  });

  it.each(['repeatable read', 'serializable'])(
    'C2: under a role that defaults to %s, read only and short timeouts it runs in READ COMMITTED, several at once',
    async (isolation) => {
      const schema = `under ${isolation}`;
      const strict = await database.createRole();
      await database.adminQuery(`CREATE SCHEMA ${escapeIdentifier(schema)} AUTHORIZATION ${strict.name}`);
      for (const setting of [
        `default_transaction_isolation = '${isolation}'`,
        'default_transaction_read_only = on',
        `statement_timeout = '300ms'`,
        `idle_in_transaction_session_timeout = '5s'`,
      ]) {
        await database.adminQuery(`ALTER ROLE ${strict.name} SET ${setting}`);
      }
      const slow = migration('0004-slow', ['SELECT pg_sleep(0.5)'], []);
      const clients = await Promise.all([1, 2, 3, 4].map(() => as(strict)));
      const applied = await Promise.all(
        clients.map((client) => new Migrator(client, { migrations: [...migrations, slow], schema }).up()),
      );
      expect(applied.flat().sort()).toEqual(['0001-first', '0002-second', '0003-index', '0004-slow']);
      const rows = await database.adminQuery(`SELECT isolation FROM ${escapeIdentifier(schema)}.thing`);
      expect(rows).toEqual([{ isolation: 'read committed' }]);
    },
  );
});
