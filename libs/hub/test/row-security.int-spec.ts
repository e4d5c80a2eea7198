import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import type { DataSource, DataSourceOptions } from 'typeorm';
import { ConfigurationError } from '../src/configuration/configuration.error.js';
import { HUB_ENTITIES, HUB_MIGRATIONS } from '../src/database/hub.schema.js';
import { HUB_TABLES } from '../src/database/hub.tables.js';
import { openDataSource } from '../src/database/open-data-source.js';

const options = (url: string): DataSourceOptions => ({
  type: 'postgres',
  entities: HUB_ENTITIES,
  migrations: HUB_MIGRATIONS,
  migrationsTableName: 'hub_migration',
  url,
});

/** One row of tenant $1 in each table. */
const ROWS: Readonly<Record<(typeof HUB_TABLES)[number], string>> = {
  tenant: `INSERT INTO tenant (id, name, retention_days) VALUES ($1, 'name', 30)`,
  api_key: `INSERT INTO api_key (hash, tenant_id) VALUES (encode(sha256(convert_to($1, 'UTF8')), 'hex'), $1)`,
  subscription: `INSERT INTO subscription (id, tenant_id, url, event_types, secret) VALUES ('sub-' || $1, $1, 'https://a', '{*}', 's')`,
  event: `INSERT INTO event (tenant_id, id, type, payload, jobs) VALUES ($1, 'e', 'push', '{}', '[]')`,
  delivery: `INSERT INTO delivery (tenant_id, event_id, subscription_id, job_id) VALUES ($1, 'e', 'sub-' || $1, 1)`,
  repository_statistics: `INSERT INTO repository_statistics VALUES ($1, 'o/n', 'push', 1, 'e', now())`,
};

describe('the tables of the hub', () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  /** within runs statements in one transaction under a tenant, or under none. */
  async function within<T>(tenantId: string, work: (query: DataSource['query']) => Promise<T>): Promise<T> {
    return dataSource.transaction(async ({ queryRunner }) => {
      await queryRunner!.query(`SELECT set_config('app.tenant_id', $1, true)`, [tenantId]);
      return work((text, values) => queryRunner!.query(text, values));
    });
  }

  async function hashOf(tenantId: string): Promise<string> {
    const [row] = await within(tenantId, (query) => query<{ hash: string }[]>('SELECT hash FROM api_key'));
    return row!.hash;
  }

  beforeAll(async () => {
    database = await createTestDatabase();
    const role = await database.createRole({ owner: true });
    dataSource = await openDataSource(options(role.url), 'up');
    for (const tenant of ['a', 'b'])
      await within(tenant, async (query) => {
        for (const table of HUB_TABLES) await query(ROWS[table], [tenant]);
      });
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  it('T1: the role that the apps connect as owns the tables and does not bypass their policies', async () => {
    const [role] = await dataSource.query<Record<string, boolean>[]>(
      'SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user',
    );
    expect(role).toEqual({ rolbypassrls: false, rolsuper: false });
    const tables = await dataSource.query<{ name: string }[]>(
      `SELECT relname AS name FROM pg_class WHERE relowner = current_user::regrole AND relrowsecurity AND relforcerowsecurity`,
    );
    expect(tables.map(({ name }) => name).sort()).toEqual([...HUB_TABLES].sort());
  });

  it('T1: no table of the schema is without row level security, but for the history of migrations', async () => {
    const rows = await dataSource.query<{ name: string }[]>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm') AND NOT relforcerowsecurity`,
    );
    expect(rows.map(({ name }) => name)).toEqual(['hub_migration']);
  });

  describe.each(HUB_TABLES)('%s', (table) => {
    const column = table === 'tenant' ? 'id' : 'tenant_id';
    const tenants = async (query: DataSource['query']) =>
      (await query<{ tenant: string }[]>(`SELECT ${column} AS tenant FROM ${table}`)).map(({ tenant }) => tenant);

    it('T1: a query without a tenant sees nothing, whether the setting was never set or was set before', async () => {
      const fresh = await database.client({ connectionString: (dataSource.options as { url: string }).url });
      expect((await fresh.query(`SELECT FROM ${table}`)).rowCount).toBe(0);
      await fresh.end();
      expect(await dataSource.query(`SELECT FROM ${table}`)).toEqual([]);
      expect(await within('', tenants)).toEqual([]);
    });

    it('T1: a tenant sees its own rows alone, and changes no others', async () => {
      expect(await within('a', tenants)).toEqual(['a']);
      const changed = await within('a', (query) =>
        query(`UPDATE ${table} SET ${column} = ${column} WHERE ${column} = 'b'`),
      );
      expect(changed).toEqual([[], 0]);
      const deleted = await within('a', (query) => query(`DELETE FROM ${table} WHERE ${column} = 'b'`));
      expect(deleted).toEqual([[], 0]);
      expect(await within('b', tenants)).toEqual(['b']);
    });

    it.each([
      ['another tenant', 'a'],
      ['no tenant', ''],
    ])('T1: %s can insert no row of a tenant (WITH CHECK)', async (_, scope) => {
      await expect(within(scope, (query) => query(ROWS[table], ['c']))).rejects.toMatchObject({ code: '42501' });
    });

    it('T1: a row cannot be given to another tenant', async () => {
      const given = within('a', (query) => query(`UPDATE ${table} SET ${column} = 'c'`));
      await expect(given).rejects.toMatchObject({ code: '42501' });
    });
  });

  it('T1: who has the hash of an API key sees that key alone, and only while it asks', async () => {
    const hash = await hashOf('a');
    const ask = (given: string) => dataSource.query('SELECT tenant_of_api_key($1) AS tenant', [given]);
    expect(await ask(hash)).toEqual([{ tenant: 'a' }]);
    expect(await ask('f'.repeat(64))).toEqual([{ tenant: null }]);
    expect(await dataSource.query('SELECT FROM api_key')).toEqual([]);
    const seen = await dataSource.transaction(async ({ queryRunner }) => {
      await queryRunner!.query(`SELECT set_config('app.api_key_hash', $1, true)`, [hash]);
      await queryRunner!.query('UPDATE api_key SET revoked_at = now()');
      await queryRunner!.query('DELETE FROM api_key');
      return queryRunner!.query('SELECT tenant_id, revoked_at FROM api_key');
    });
    expect(seen).toEqual([{ revoked_at: null, tenant_id: 'a' }]);
  });

  it('a revoked key is nobody’s', async () => {
    await within('b', (query) => query('UPDATE api_key SET revoked_at = now()'));
    const hash = await hashOf('b');
    expect(await dataSource.query('SELECT tenant_of_api_key($1) AS tenant', [hash])).toEqual([{ tenant: null }]);
  });

  it.each([
    ['a superuser', 'SUPERUSER', 'is a superuser'],
    ['BYPASSRLS', 'NOSUPERUSER BYPASSRLS', 'has BYPASSRLS'],
  ])('T1: the start is refused as %s, with the remedy', async (_, attributes, why) => {
    const role = await database.createRole({ attributes });
    const start = openDataSource(options(role.url), 'up');
    await expect(start).rejects.toThrow(ConfigurationError);
    await expect(start).rejects.toThrow(`the role ${role.name} ${why}`);
    await expect(start).rejects.toThrow('CREATE ROLE hub LOGIN');
  });

  it('T1: the start is refused when a table has lost its protection, with the remedy, which works', async () => {
    const { url } = dataSource.options as { url: string };
    await dataSource.query('ALTER TABLE event NO FORCE ROW LEVEL SECURITY');
    const start = openDataSource(options(url), 'check');
    await expect(start).rejects.toThrow(
      'Run, as their owner: ALTER TABLE event ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY.',
    );
    await dataSource.query('ALTER TABLE event ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY');
    await (await openDataSource(options(url), 'check')).destroy();
  });

  it('the start says what to do when the tables belong to another role', async () => {
    const role = await database.createRole();
    const start = openDataSource(options(role.url), 'up');
    await expect(start).rejects.toThrow(/may not make or change the hub's tables: .*OWNER TO/);
  });
});

describe('a database of before there were tenants', () => {
  it('keeps its rows under other names, and somebody else’s table of the same name is left alone', async () => {
    const before = await createTestDatabase();
    await before.adminQuery('CREATE TABLE api_migration (name text)');
    await before.adminQuery('CREATE TABLE event (id text PRIMARY KEY)');
    await before.adminQuery("INSERT INTO event VALUES ('kept')");
    const { url } = await before.createRole({ owner: true });
    await (await openDataSource(options(url), 'up')).destroy();
    expect(await before.adminQuery('SELECT id FROM event_without_tenants')).toEqual([{ id: 'kept' }]);
    expect(await before.adminQuery('SELECT id FROM event')).toEqual([]);
    await before.drop();

    const foreign = await createTestDatabase();
    await foreign.adminQuery('CREATE TABLE event (id text PRIMARY KEY)');
    const role = await foreign.createRole({ owner: true });
    await expect(openDataSource(options(role.url), 'up')).rejects.toThrow('relation "event" already exists');
    await foreign.drop();
  });

  it('the migration can be taken back', async () => {
    const db = await createTestDatabase();
    const { url } = await db.createRole({ owner: true });
    const source = await openDataSource(options(url), 'up');
    await source.undoLastMigration();
    const left = await db.adminQuery(
      `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
    );
    expect(left).toEqual([{ relname: 'hub_migration' }]);
    await source.runMigrations();
    await source.destroy();
    await db.drop();
  });
});
