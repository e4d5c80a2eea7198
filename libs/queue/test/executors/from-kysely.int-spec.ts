import { fromKysely } from '@holdfast/kernel/kysely';
import { CamelCasePlugin, type ControlledTransaction, Kysely, PostgresDialect, type Transaction } from 'kysely';
import { Pool } from 'pg';
import { proveExecutor } from './executor.proof.js';

interface Tables {
  note: { id: number };
}

const connected = (url: string) =>
  new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: new Pool({ connectionString: url, max: 2 }) }),
    plugins: [new CamelCasePlugin()],
  });

/** A controlled transaction has savepoints; those of a callback have none. */
proveExecutor<ControlledTransaction<Tables>>('fromKysely, a controlled transaction', async (db) => {
  const kysely = connected(db.url);
  const ended = await kysely.startTransaction().execute();
  await ended.rollback().execute();
  return {
    close: () => kysely.destroy(),
    executorOf: fromKysely,
    insert: (trx, id) => trx.insertInto('note').values({ id }).execute(),
    outside: () => ({
      'a transaction that has ended': () => fromKysely(ended),
      'the instance': () => fromKysely(kysely as unknown as Transaction<Tables>),
    }),
    savepoint: async (trx, work) => {
      const inner = await trx.savepoint('here').execute();
      try {
        await work(inner);
      } catch (error) {
        await inner.rollbackToSavepoint('here').execute();
        throw error;
      }
      await inner.releaseSavepoint('here').execute();
    },
    tellsEnd: true,
    transaction: async (work) => {
      const trx = await kysely.startTransaction().execute();
      try {
        const result = await work(trx);
        await trx.commit().execute();
        return result;
      } catch (error) {
        await trx.rollback().execute();
        throw error;
      }
    },
  };
});

proveExecutor<Transaction<Tables>>('fromKysely, a transaction of a callback', (db) => {
  const kysely = connected(db.url);
  return Promise.resolve({
    close: () => kysely.destroy(),
    executorOf: fromKysely,
    insert: (trx, id) => trx.insertInto('note').values({ id }).execute(),
    outside: () => ({ 'the instance': () => fromKysely(kysely as unknown as Transaction<Tables>) }),
    savepoint: async (trx, work) => {
      const run = (sql: string) => fromKysely(trx).query(sql);
      await run('SAVEPOINT here');
      try {
        await work(trx);
      } catch (error) {
        await run('ROLLBACK TO SAVEPOINT here');
        throw error;
      }
    },
    tellsEnd: false,
    transaction: (work) => kysely.transaction().execute(work),
  });
});
