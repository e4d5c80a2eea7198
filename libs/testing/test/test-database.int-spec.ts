import { Client } from 'pg';
import {
  createEmptyDatabase,
  createTestDatabase,
  LeakedConnectionsError,
  testbed,
  type TestDatabase,
} from '@holdfast/testing';

async function exists(database: string): Promise<boolean> {
  const client = new Client({ connectionString: testbed().url });
  await client.connect();
  try {
    return (await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [database])).rowCount === 1;
  } finally {
    await client.end();
  }
}

describe('TestDatabase', () => {
  it('is one of its own, of the template, and gone after drop()', async () => {
    const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    await one.adminQuery('CREATE TABLE only_here (id int)');
    expect(await two.adminQuery("SELECT to_regclass('only_here') AS found")).toEqual([{ found: null }]);
    await Promise.all([one.drop(), two.drop()]);
    expect(await exists(one.name)).toBe(false);
  });

  it('has the migrations applied', async () => {
    const database = await createTestDatabase();
    expect(await database.adminQuery("SELECT to_regclass('holdfast.job') IS NOT NULL AS found")).toEqual([
      { found: true },
    ]);
    await database.drop();
  });

  it('is empty when created empty', async () => {
    const database = await createEmptyDatabase();
    expect(await database.adminQuery("SELECT 1 FROM pg_namespace WHERE nspname = 'holdfast'")).toEqual([]);
    await database.drop();
  });

  it('gives pools, data sources, clients and roles, and ends them with itself', async () => {
    const database = await createTestDatabase();
    await database.pool({ max: 2 }).query('SELECT 1');
    const dataSource = await database.dataSource({ poolSize: 2 });
    expect(await dataSource.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    const role = await database.createRole();
    const client = await database.client({ connectionString: role.url });
    await expect(client.query('CREATE SCHEMA forbidden')).rejects.toMatchObject({ code: '42501' });
    await database.drop();
    expect(dataSource.isInitialized).toBe(false);
  });
});

describe('createRole({ owner: true })', () => {
  it('owns the database and all that has been made there, and nothing of an extension', async () => {
    const database = await createTestDatabase();
    await database.adminQuery('CREATE SCHEMA "An App"');
    await database.adminQuery('CREATE TABLE "An App"."Order" (id bigserial, kept bigint GENERATED ALWAYS AS IDENTITY)');
    await database.adminQuery("CREATE TYPE colour AS ENUM ('red')");
    const role = await database.createRole({ owner: true });
    const owned = await database.adminQuery<{ owner: string }>(
      `SELECT DISTINCT pg_get_userbyid(relowner) AS owner FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
       WHERE nspname IN ('An App', 'holdfast', 'public')
       UNION SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()
       UNION SELECT pg_get_userbyid(proowner) FROM pg_proc WHERE pronamespace = 'holdfast'::regnamespace
       UNION SELECT pg_get_userbyid(typowner) FROM pg_type WHERE typname = 'colour'`,
    );
    expect(owned).toEqual([{ owner: role.name }]);
    const client = await database.client({ connectionString: role.url });
    await client.query('CREATE TABLE allowed ()');
    await client.query('DROP SCHEMA "An App" CASCADE');
    await database.drop();
  });
});

describe('the leak check of drop()', () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createTestDatabase();
  });

  afterEach(async () => {
    expect(await exists(database.name)).toBe(false);
  });

  it('fails for a client that was never given back to its pool', async () => {
    await database.pool().connect();
    await expect(database.drop()).rejects.toThrow('pool 1: 1 of 1 clients never came back');
  });

  it('fails for a query runner that was never released', async () => {
    const runner = (await database.dataSource()).createQueryRunner();
    await runner.connect();
    await expect(database.drop()).rejects.toThrow('data source 1: 1 of 1 clients never came back');
  });

  it('fails for a connection from elsewhere, and names its last statement', async () => {
    const stranger = new Client({ application_name: 'stranger', connectionString: database.url });
    stranger.on('error', () => undefined);
    await stranger.connect();
    await stranger.query("SELECT 'mine'");
    const failure = await database.drop().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(LeakedConnectionsError);
    expect((failure as LeakedConnectionsError).leaks[0]).toMatch(/"stranger" idle: SELECT 'mine'/);
  });
});

describe('terminateBackends', () => {
  it('ends the backends that match, waits until they are gone and spares the others', async () => {
    const database = await createTestDatabase();
    const [idle, busy] = [await database.client(), await database.client()];
    await busy.query('BEGIN');
    expect(await database.terminateBackends("state = 'idle in transaction'")).toBe(1);
    await expect(busy.query('SELECT 1')).rejects.toThrow();
    expect((await idle.query('SELECT 1')).rowCount).toBe(1);
    await database.drop();
  });
});
