import { Migrator, type Migration } from '@holdfast/kernel';
import { createEmptyDatabase, type TestDatabase } from '@holdfast/testing';
import { escapeIdentifier, type Client } from 'pg';
import { migrationsFor, queueMigrations } from '../src/index.js';

const names = ['holdfast', 'UPPER-Case', 'do.t', 'quo"te', "apo'strophe", 'back\\slash', 'ünï cödé'];
const ids = queueMigrations.map(({ id }) => id);

describe('the migrations of the queue', () => {
  let database: TestDatabase;
  let client: Client;

  const objects = (where: string, schema: string) =>
    database.adminQuery(
      `SELECT c.oid::regclass::text AS object FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace
       WHERE nspname NOT LIKE 'pg\\_toast%' AND nspname ${where} $1
       UNION ALL SELECT p.oid::regprocedure::text FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = pronamespace WHERE nspname ${where} $1
       UNION ALL SELECT t.oid::regtype::text FROM pg_type AS t JOIN pg_namespace AS n ON n.oid = typnamespace
       WHERE nspname NOT LIKE 'pg\\_toast%' AND nspname ${where} $1 ORDER BY 1`,
      [schema],
    );

  beforeAll(async () => {
    database = await createEmptyDatabase();
    await database.adminQuery('REVOKE ALL ON SCHEMA public FROM PUBLIC');
    const role = await database.createRole();
    await database.adminQuery(`GRANT CREATE ON DATABASE ${escapeIdentifier(database.name)} TO ${role.name}`);
    await database.adminQuery(`ALTER ROLE ${role.name} SET search_path = ''`);
    client = await database.client({ connectionString: role.url });
  });

  afterAll(() => database.drop());

  it.each(names)(
    'K127: in the schema %s, by a role without rights on public: up, down to nothing, up, a row',
    async (schema) => {
      const before = await objects('<>', schema);
      const migrator = new Migrator(client, { migrations: queueMigrations, schema });
      expect(await migrator.up()).toEqual(ids);
      expect(await objects('<>', schema)).toEqual(before);
      expect(await migrator.down({ steps: 'all' })).toEqual([...ids].reverse());
      expect(await objects('=', schema)).toEqual([]);
      expect(await migrator.up()).toEqual(ids);
      await migrator.check();
      const row = await client.query(
        `INSERT INTO ${escapeIdentifier(schema)}.job (kind, payload) VALUES ('a', '{}') RETURNING id`,
      );
      expect(row.rows).toEqual([{ id: '1' }]);
      expect(await migrator.down({ steps: 'all' })).toEqual([...ids].reverse());
    },
  );

  it('C2: printed and run by hand they are what the migrator makes', async () => {
    const schema = 'by hand';
    const migrator = new Migrator(client, { migrations: migrationsFor(['queue']), schema });
    await client.query(await migrator.sql());
    await migrator.check();
    expect(await migrator.up()).toEqual([]);
    await client.query(await migrator.sql('down', { steps: 'all' }));
    expect(await objects('=', schema)).toEqual([]);
  });

  it.each(ids)('C2: %s edited is refused by its id', async (id) => {
    const schema = `edited ${id}`;
    await new Migrator(client, { migrations: queueMigrations, schema }).up();
    const edited = queueMigrations.map((one): Migration =>
      one.id === id ? { ...one, up: (name) => [...one.up(name), 'SELECT 1'] } : one,
    );
    await expect(new Migrator(client, { migrations: edited, schema }).up()).rejects.toMatchObject({ migration: id });
  });
});
