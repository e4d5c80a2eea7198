import { fromDrizzle, type DrizzleTransactionLike } from '@holdfast/kernel/drizzle';
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import { integer, pgTable } from 'drizzle-orm/pg-core';
import { Pool } from 'pg';
import { proveExecutor } from './executor.proof.js';

const note = pgTable('note', { id: integer().primaryKey() });

type Tx = Parameters<Parameters<NodePgDatabase['transaction']>[0]>[0];

proveExecutor<Tx>('fromDrizzle', async (db) => {
  const pool = new Pool({ connectionString: db.url, max: 2 });
  const database = drizzle(pool);
  const ended = await database.transaction((tx) => Promise.resolve({ tx }));
  return {
    close: () => pool.end(),
    executorOf: fromDrizzle,
    insert: (tx, id) => tx.insert(note).values({ id }),
    outside: () => ({
      'a transaction that has ended': () => fromDrizzle(ended.tx),
      'the database': () => fromDrizzle(database as unknown as DrizzleTransactionLike),
    }),
    savepoint: (tx, work) => tx.transaction(work),
    tellsEnd: true,
    transaction: (work) => database.transaction(work),
  };
});
