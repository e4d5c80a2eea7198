import { Migrator } from '@holdfast/kernel';
import { createEmptyDatabase, type TestDatabase } from '@holdfast/testing';
import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { holdfastMigrations, queueMigrations } from '../src/index.js';

const ids = queueMigrations.map(({ id }) => id);

/** An application's own migration, which builds on ours. */
class Orders1900000000000 implements MigrationInterface {
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE orders');
  }

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE orders (id bigint)');
    await runner.query(`INSERT INTO "Our Queue".job (kind, payload) VALUES ('order.ship', '{}')`);
  }
}

describe('holdfastMigrations in an application’s own list', () => {
  const schema = 'Our Queue';
  let database: TestDatabase;
  let dataSource: DataSource;

  const own = async () => new Migrator(await database.client(), { migrations: queueMigrations, schema });
  const open = (options: { migrations?: (new () => MigrationInterface)[] } = {}) =>
    database.dataSource({
      logger: 'debug',
      migrations: options.migrations ?? [...holdfastMigrations({ parts: ['queue'], schema }), Orders1900000000000],
    });

  beforeEach(async () => {
    database = await createEmptyDatabase();
    dataSource = await open();
  });

  afterEach(() => database.drop());

  it.each(['all', 'each', 'none'] as const)(
    'C2: up, checked by our own migrator, and down, with transactions: %s',
    async (transaction) => {
      await dataSource.runMigrations({ transaction });
      expect(await dataSource.query(`SELECT count(*)::int FROM "Our Queue".job`)).toEqual([{ count: 1 }]);
      await (await own()).check();
      expect(await (await own()).up()).toEqual([]);
      for (let i = 0; i <= ids.length; i++) await dataSource.undoLastMigration({ transaction });
      expect((await (await own()).status()).map(({ state }) => state)).toEqual(ids.map(() => 'pending'));
      const left = await database.adminQuery(
        `SELECT relname FROM pg_class WHERE relnamespace = '"Our Queue"'::regnamespace`,
      );
      expect(left).toEqual([]);
    },
  );

  it('C2: what our own migrator has applied is found applied', async () => {
    await (await own()).up();
    await dataSource.runMigrations({ transaction: 'each' });
    await (await own()).check();
  });

  it('C2: a failure later in one transaction takes ours back with it', async () => {
    class Broken1900000000001 implements MigrationInterface {
      async down(): Promise<void> {}
      async up(runner: QueryRunner): Promise<void> {
        await runner.query('SELECT 1 / 0');
      }
    }
    const broken = await open({
      migrations: [...holdfastMigrations({ parts: ['queue'], schema }), Broken1900000000001],
    });
    await expect(broken.runMigrations({ transaction: 'all' })).rejects.toThrow('division by zero');
    expect(await database.adminQuery('SELECT FROM pg_namespace WHERE nspname = $1', [schema])).toEqual([]);
  });

  it('K52: TypeORM and our own migrator at once, five times', async () => {
    for (let round = 0; round < 5; round++) {
      const migrator = await own();
      await Promise.all([dataSource.runMigrations({ transaction: 'each' }), migrator.up()]);
      await migrator.check();
      for (let i = 0; i <= ids.length; i++) await dataSource.undoLastMigration({ transaction: 'each' });
    }
  });
});
