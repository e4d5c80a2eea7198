import { fromKnex } from '@holdfast/kernel/knex';
import { knex, type Knex } from 'knex';
import { proveExecutor } from './executor.proof.js';

/** camelCase keys, as applications with snake_case columns have them. */
function camelCase(response: unknown): unknown {
  const rows = (response as { rows?: Record<string, unknown>[] } | undefined)?.rows;
  for (const row of rows ?? [])
    for (const key of Object.keys(row)) {
      row[key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())] = row[key];
      if (key.includes('_')) delete row[key];
    }
  return response;
}

proveExecutor<Knex.Transaction>('fromKnex', async (db) => {
  const instance = knex({
    client: 'pg',
    connection: db.url,
    pool: { max: 2, min: 0 },
    postProcessResponse: camelCase,
  });
  const ended = await instance.transaction();
  await ended.rollback();
  return {
    close: () => instance.destroy(),
    executorOf: fromKnex,
    insert: (trx, id) => trx('note').insert({ id }),
    outside: () => ({
      'a transaction that has ended': () => fromKnex(ended),
      'the instance': () => fromKnex(instance as unknown as Knex.Transaction),
    }),
    savepoint: (trx, work) => trx.transaction(work),
    tellsEnd: true,
    transaction: (work) => instance.transaction(work),
  };
});
