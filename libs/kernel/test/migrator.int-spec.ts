import { createEmptyDatabase, waitFor, type TestDatabase } from '@holdfast/testing';
import { Client, escapeIdentifier } from 'pg';
import {
  EditedMigrationError,
  InvalidMigrationsError,
  MigrationBusyError,
  MigrationConnectionError,
  MigrationFailedError,
  MigrationGapError,
  MigrationsPendingError,
  Migrator,
  SchemaNewerError,
  type Migration,
  type MigratorOptions,
} from '../src/index.js';
import { migrationLockKey } from '../src/migrate/migration.lock.js';
import { SchemaName } from '../src/sql/schema-name.js';
import { first, migration, outbox, second, third } from './sample.migrations.js';

const all = [first, second, third];
const ids = all.map(({ id }) => id);
const lockKey = (schema: string) => migrationLockKey(new SchemaName(schema));

describe('Migrator', () => {
  let database: TestDatabase;
  let client: Client;
  let schema: string;
  let round = 0;

  const migrator = (migrations: readonly Migration[] = all, options: Partial<MigratorOptions> = {}, on = client) =>
    new Migrator(on, { migrations, schema, ...options });
  const tables = async () => {
    const rows = await database.adminQuery<{ relname: string }>(
      `SELECT relname FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) ORDER BY 1`,
      [schema],
    );
    return rows.map(({ relname }) => relname);
  };
  const locks = () =>
    database.adminQuery(
      `SELECT pid FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database
       WHERE locktype = 'advisory' AND datname = current_database()`,
    );

  beforeAll(async () => {
    database = await createEmptyDatabase();
    client = await database.client({ application_name: 'migrating' });
  });

  beforeEach(() => {
    schema = `round_${++round}`;
  });

  afterEach(async () => {
    expect(await locks()).toEqual([]);
  });

  afterAll(() => database.drop());

  describe('at once', () => {
    let clients: Client[];

    beforeAll(async () => {
      clients = await Promise.all(Array.from({ length: 10 }, () => database.client()));
    });

    it.each(Array.from({ length: 20 }, (_, i) => i + 1))('K52: ten instances start on nothing, round %i', async () => {
      const applied = await Promise.all(clients.map((on) => migrator(all, {}, on).up()));
      expect(applied.flat().sort()).toEqual(ids);
      await Promise.all(clients.map((on) => migrator(all, {}, on).check()));
    });

    it.each(Array.from({ length: 20 }, (_, i) => i + 1))('K52: half on an old version, round %i', async () => {
      const version = (i: number) => (i % 2 === 0 ? [first] : all);
      const applied = await Promise.all(clients.map((on, i) => migrator(version(i), {}, on).up()));
      expect(applied.flat().sort()).toEqual(ids);
      await Promise.all(clients.map((on, i) => migrator(version(i), {}, on).check()));
    });

    it('K125: ten instances start with the schema alone, made by somebody else', async () => {
      await database.adminQuery(`CREATE SCHEMA ${schema}`);
      const applied = await Promise.all(clients.map((on) => migrator(all, {}, on).up()));
      expect(applied.flat().sort()).toEqual(ids);
    });

    it('K52: ten instances go down at once, and one takes each step', async () => {
      await migrator().up();
      const reverted = await Promise.all(clients.map((on) => migrator(all, {}, on).down({ steps: 'all' })));
      expect(reverted.flat().sort()).toEqual(ids);
      expect(await tables()).toEqual([]);
    });
  });

  describe('the lock', () => {
    it('K125: nothing is created, not even the schema, before the lock is had; the wait ends and names the holder', async () => {
      const holder = await database.client({ application_name: 'the holder' });
      await holder.query(`SELECT pg_advisory_lock(${lockKey(schema)})`);
      const error = await migrator(all, { waitMs: 150 })
        .up()
        .catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(MigrationBusyError);
      expect((error as MigrationBusyError).holder).toContain('the holder');
      expect(await database.adminQuery('SELECT FROM pg_namespace WHERE nspname = $1', [schema])).toEqual([]);

      const waiting = migrator().up();
      await holder.query('SELECT pg_advisory_unlock_all()');
      expect(await waiting).toEqual(ids);
    });

    it('C2: another schema is another lock', async () => {
      const holder = await database.client();
      await holder.query(`SELECT pg_advisory_lock(${lockKey('elsewhere')})`);
      expect(await migrator(all, { waitMs: 0 }).up()).toEqual(ids);
      await holder.query('SELECT pg_advisory_unlock_all()');
    });

    it('C2: it is free after a failure, nothing of that step is kept, and the migration is named', async () => {
      const broken = migration('0002-broken', ['CREATE TABLE %s.half (id int)', 'SELECT 1 / 0'], []);
      const error = await migrator([first, broken])
        .up()
        .catch((reason: unknown) => reason);
      expect(error).toMatchObject({ migration: '0002-broken', statement: 2, cause: { code: '22012' } });
      expect(error).toBeInstanceOf(MigrationFailedError);
      expect(await locks()).toEqual([]);
      expect(await tables()).toEqual(['migration', 'migration_pk', 'thing', 'thing_pkey']);
      expect(await migrator([first, second]).up()).toEqual(['0002-second']);
    });

    it('C2: it is free after the connection was lost in the middle, and the next instance applies the step', async () => {
      const slow = migration('0002-slow', ['SELECT pg_sleep(60)'], []);
      const doomed = await database.client({ application_name: 'doomed' });
      const lost = migrator([first, slow], {}, doomed)
        .up()
        .catch((reason: unknown) => reason);
      await waitFor(() => database.terminateBackends(`application_name = 'doomed' AND query LIKE '%pg_sleep%'`), {
        what: 'the slow migration',
      });
      expect(await lost).toBeInstanceOf(Error);
      expect(await migrator([first, second]).up()).toEqual(['0002-second']);
    });

    it('C2: a table in use holds up the step and not the traffic behind it: the step lets go and tries again', async () => {
      await migrator([first]).up();
      const reader = await database.client();
      await reader.query(`BEGIN; SELECT FROM ${schema}.thing`);
      const busy = migrator([first, second], { lockTimeoutMs: 50, waitMs: 300 }).up();
      await expect(busy).rejects.toThrow(MigrationBusyError);
      expect(await tables()).not.toContain('mood');

      const patient = migrator([first, second], { lockTimeoutMs: 50 }).up();
      await waitFor(
        () =>
          database
            .adminQuery(`SELECT FROM pg_locks WHERE NOT granted AND relation = '${schema}.thing'::regclass`)
            .then((rows) => rows.length > 0),
        {
          everyMs: 5,
          what: 'the migration to wait for the table',
        },
      );
      const other = await database.client();
      expect((await other.query(`SELECT FROM ${schema}.thing`)).rowCount).toBe(1);
      await reader.query('COMMIT');
      expect(await patient).toEqual(['0002-second']);
    });
  });

  describe('the connection', () => {
    it('C2: a pool is refused', async () => {
      const pool = database.pool();
      await expect(new Migrator(pool, { migrations: all, schema }).up()).rejects.toThrow(MigrationConnectionError);
    });

    it('C2: an open transaction is refused and left as it is', async () => {
      await client.query('BEGIN; CREATE TEMPORARY TABLE mine (id int)');
      await expect(migrator().up()).rejects.toThrow(MigrationConnectionError);
      await client.query('SELECT FROM mine; ROLLBACK');
      expect(await tables()).toEqual([]);
    });

    it('C2: the settings of the session are as they were, after a step outside a transaction too', async () => {
      const settings = async () =>
        (
          await client.query(
            `SELECT name, setting FROM pg_settings WHERE name ~ 'timeout|search_path|default_transaction|client_min_messages'`,
          )
        ).rows;
      await client.query(`SET statement_timeout = '59s'; SET search_path = public, pg_temp`);
      const before = await settings();
      await migrator().up();
      expect(await settings()).toEqual(before);
      await client.query('RESET ALL');
    });
  });

  describe('steps outside a transaction', () => {
    it('C2: a failure keeps what came before it, records nothing, and the next try goes through it again', async () => {
      const create = 'CREATE INDEX CONCURRENTLY IF NOT EXISTS thing_name ON %s.thing (name)';
      const broken = migration('0003-index', [create, 'SELECT 1 / 0'], [], { transaction: false });
      const error = await migrator([first, second, broken])
        .up()
        .catch((reason: unknown) => reason);
      expect(error).toMatchObject({ migration: '0003-index', statement: 2, transactional: false });
      expect(await tables()).toContain('thing_name');
      expect(await migrator().up()).toEqual(['0003-index']);
    });

    it('C2: an index is built concurrently while other instances wait for the lock', async () => {
      await migrator([first, second]).up();
      const others = await Promise.all([1, 2, 3].map(() => database.client()));
      const applied = await Promise.all([client, ...others].map((on) => migrator(all, {}, on).up()));
      expect(applied.flat()).toEqual(['0003-index']);
    });
  });

  describe('history', () => {
    it('C2: applied once, checked, and listed with when and by whom', async () => {
      const said: string[] = [];
      const logger = { log: (message: string) => said.push(message) };
      await expect(migrator().check()).rejects.toThrow(MigrationsPendingError);
      await expect(migrator().check()).rejects.toMatchObject({ pending: ids, schema });
      expect(await migrator(all, { logger }).up()).toEqual(ids);
      expect(await migrator(all, { logger }).up()).toEqual([]);
      await migrator().check();
      expect(said).toHaveLength(3);
      const [line] = await migrator().status();
      expect(line).toMatchObject({ appliedBy: 'postgres', id: '0001-first', part: 'queue', state: 'applied' });
      expect(line?.appliedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    });

    it('C2: an edited migration is refused by its id, on every way', async () => {
      await migrator().up();
      const edited = [migration('0001-first', ['SELECT 1'], []), second, third];
      for (const verb of ['check', 'up'] as const) {
        await expect(migrator(edited)[verb]()).rejects.toMatchObject({ migration: '0001-first' });
      }
      await expect(migrator(edited).down({ steps: 'all' })).rejects.toThrow(EditedMigrationError);
      await expect(migrator(edited).sql()).rejects.toThrow(EditedMigrationError);
      expect((await migrator(edited).status()).map(({ state }) => state)).toEqual(['edited', 'applied', 'applied']);
      expect(await tables()).toContain('thing');
    });

    it('C2: the version before runs on the newer schema, and does not take it back', async () => {
      await migrator().up();
      const old = migrator([first]);
      await old.check();
      expect(await old.up()).toEqual([]);
      expect((await old.status()).map(({ id, state }) => [id, state])).toEqual([
        ['0001-first', 'applied'],
        ['0002-second', 'unknown'],
        ['0003-index', 'unknown'],
      ]);
      await expect(old.down()).rejects.toThrow(SchemaNewerError);
      await expect(old.down()).rejects.toMatchObject({ unknown: ['0002-second', '0003-index'] });
    });

    it('C2: a migration that is missing below an applied one is not slipped in', async () => {
      await migrator().up();
      await database.adminQuery(`DELETE FROM ${schema}.migration WHERE id = '0002-second'`);
      await expect(migrator().up()).rejects.toThrow(MigrationGapError);
      await expect(migrator().check()).rejects.toMatchObject({ later: '0003-index', missing: '0002-second' });
    });

    it('C2: a list with a malformed, doubled or misplaced id is refused at once', () => {
      const named = (id: string) => migration(id, [], []);
      for (const list of [[named('first')], [first, first], [second, first]]) {
        expect(() => migrator(list)).toThrow(InvalidMigrationsError);
      }
    });
  });

  describe('down', () => {
    it('C2: one step by default, some, or to a migration; up again works', async () => {
      const parts = [...all, outbox];
      await migrator(parts).up();
      expect(await migrator(parts).down()).toEqual(['0001-letters']);
      expect(await migrator(parts).up()).toEqual(['0001-letters']);
      expect(await migrator(parts).down({ to: '0001-first' })).toEqual(['0003-index', '0002-second']);
      expect(await tables()).toContain('letter');
      expect(await migrator(parts).up()).toEqual(['0002-second', '0003-index']);
      expect(await migrator(parts).down({ steps: 3 })).toEqual(['0001-letters', '0003-index', '0002-second']);
      await expect(migrator(parts).down({ to: '0009-unknown' })).rejects.toThrow(InvalidMigrationsError);
    });

    it('C2: all the way down leaves an empty schema, with rows in the tables too; up again works', async () => {
      await migrator().up();
      expect(await migrator().down({ steps: 'all' })).toEqual([...ids].reverse());
      expect(await tables()).toEqual([]);
      expect(await database.adminQuery('SELECT FROM pg_type WHERE typnamespace = $1::regnamespace', [schema])).toEqual(
        [],
      );
      expect(await database.adminQuery('SELECT FROM pg_namespace WHERE nspname = $1', [schema])).toHaveLength(1);
      expect(await migrator().up()).toEqual(ids);
    });

    it('C2: one part goes down while the other stays', async () => {
      await migrator([...all, outbox]).up();
      expect(await migrator([outbox]).down({ steps: 'all' })).toEqual(['0001-letters']);
      await migrator().check();
    });
  });

  describe('sql', () => {
    it('C2: prints what would run, changes nothing, and run by hand it is what the migrator would have done', async () => {
      const transactional = [first, second];
      const script = await migrator(transactional).sql();
      expect(await tables()).toEqual([]);
      await client.query(script);
      await migrator(transactional).check();
      expect(await migrator(transactional).up()).toEqual([]);
      expect(await migrator(transactional).sql()).toBe('-- Nothing to run.\n');

      await client.query(await migrator(transactional).sql('down', { steps: 'all' }));
      expect(await tables()).toEqual([]);
    });

    it('C2: what is pending alone is printed, and what runs outside a transaction stands outside one', async () => {
      await migrator([first]).up();
      const script = await migrator().sql();
      expect(script).not.toContain('0001-first');
      expect(script.slice(script.indexOf('0003-index'))).not.toContain('BEGIN');
      expect(script).toContain(
        `CREATE INDEX CONCURRENTLY IF NOT EXISTS thing_name ON ${escapeIdentifier(schema)}.thing`,
      );
    });
  });
});
