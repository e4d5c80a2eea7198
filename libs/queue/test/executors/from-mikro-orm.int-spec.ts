import { fromMikroOrm } from '@holdfast/kernel/mikro-orm';
import { EntitySchema, MikroORM } from '@mikro-orm/core';
import { PostgreSqlDriver, type SqlEntityManager } from '@mikro-orm/postgresql';
import { proveExecutor } from './executor.proof.js';

interface Note {
  id: number;
}

const NoteSchema = new EntitySchema<Note>({
  name: 'Note',
  properties: { id: { autoincrement: false, primary: true, type: 'number' } },
  tableName: 'note',
});

proveExecutor<SqlEntityManager>('fromMikroOrm', async (db) => {
  const orm = await MikroORM.init<PostgreSqlDriver>({
    clientUrl: db.url,
    driver: PostgreSqlDriver,
    entities: [NoteSchema],
    pool: { max: 2, min: 0 },
  });
  const em = () => orm.em.fork() as SqlEntityManager;
  const ended = em();
  await ended.begin();
  await ended.rollback();
  return {
    close: () => orm.close(),
    executorOf: fromMikroOrm,
    insert: (manager, id) => manager.persistAndFlush(manager.create(NoteSchema, { id })),
    outside: () => ({
      'a manager whose transaction has ended': () => fromMikroOrm(ended),
      'a manager without a transaction': () => fromMikroOrm(em()),
    }),
    savepoint: (manager, work) => manager.transactional((inner) => work(inner)),
    tellsEnd: true,
    transaction: (work) => em().transactional((manager) => work(manager)),
  };
});
