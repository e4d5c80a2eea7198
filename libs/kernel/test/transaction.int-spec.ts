import { createEmptyDatabase, waitFor, within, type TestDatabase } from '@holdfast/testing';
import type { Pool } from 'pg';
import { DataSource, type EntityManager } from 'typeorm';
import { DataSourceNotInitializedError } from '../src/errors/data-source-not-initialized.error.js';
import { ConnectionLostError } from '../src/errors/connection-lost.error.js';
import { CommitUnknownError } from '../src/errors/commit-unknown.error.js';
import { NoOpenTransactionError } from '../src/errors/no-open-transaction.error.js';
import { PoolExhaustedError } from '../src/errors/pool-exhausted.error.js';
import { TransactionAbortedError } from '../src/errors/transaction-aborted.error.js';
import { TransactionEndedError } from '../src/errors/transaction-ended.error.js';
import { TransactionSettledError } from '../src/errors/transaction-settled.error.js';
import { isConnectionLost, sqlStateOf } from '../src/errors/sql-state.js';
import { executorOf } from '../src/transaction/executor-of.js';
import { SchemaName } from '../src/sql/schema-name.js';
import { Statement } from '../src/sql/statement.js';
import type { Database, OpenTransaction } from '../src/transaction/database.js';
import { typeOrm } from '../src/transaction/typeorm.database.js';
import { createNotes, KINDS, Note, notes } from './databases.js';
import { rejection } from './rejection.js';

/** A fence that raises for 0, and lets COMMIT through for anything else. */
const fenceOf = (divisor: number) =>
  new Statement<number, unknown>({ name: 'fence', text: () => 'SELECT 1 / $1::int', values: (n) => [n] }).bind(
    new SchemaName('holdfast'),
    divisor,
  );
const insert = (open: OpenTransaction, text: string) =>
  open.transaction.sql.query('INSERT INTO note (text) VALUES ($1)', [text]);

describe.each(Object.entries(KINDS))('a transaction of %s', (kind, openDatabase) => {
  let testDatabase: TestDatabase;
  let database: Database;
  let pool: Pool;

  beforeAll(async () => {
    testDatabase = await createEmptyDatabase();
    await createNotes(testDatabase);
    ({ database, pool } = await openDatabase(testDatabase));
  });
  beforeEach(() => testDatabase.adminQuery('TRUNCATE note, plain'));
  afterEach(() =>
    waitFor(() => pool.totalCount === pool.idleCount, { deadlineMs: 3_000, what: 'every client to be back' }),
  );
  afterAll(() => testDatabase.drop());

  const backend = async (open: OpenTransaction) => {
    const { rows } = await open.transaction.sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return rows[0]!.pid;
  };
  const kill = (pid: number) => testDatabase.terminateBackends('pid = $1', [pid]);

  it('commits, and calls what waits for the commit', async () => {
    const open = await database.begin();
    const called: string[] = [];
    open.transaction.afterCommit(() => void called.push('after'));
    await insert(open, 'a');
    expect(called).toEqual([]);
    await open.commit(fenceOf(1));
    expect(called).toEqual(['after']);
    expect(await notes(testDatabase)).toEqual(['a']);
  });

  it('answers rows and counts in one shape for every command (architecture, trap 4)', async () => {
    const open = await database.begin();
    const { sql } = open.transaction;
    const values = { rowCount: 2, rows: [{ text: 'a' }, { text: 'b' }] };
    expect(await sql.query(`INSERT INTO note (text) VALUES ('a'), ('b')`)).toEqual({ rowCount: 2, rows: [] });
    expect(await sql.query('SELECT text FROM note ORDER BY text')).toEqual(values);
    expect(await sql.query('UPDATE note SET id = id RETURNING text')).toEqual(values);
    expect(await sql.query('WITH u AS (UPDATE note SET id = id RETURNING text) SELECT text FROM u')).toEqual(values);
    expect(await sql.query('SELECT text FROM note WHERE text = $1', ['a'], 'named')).toEqual({
      rowCount: 1,
      rows: [{ text: 'a' }],
    });
    expect(await sql.query('DELETE FROM note')).toEqual({ rowCount: 2, rows: [] });
    expect(await sql.query('CREATE TEMP TABLE t () ON COMMIT DROP')).toEqual({ rowCount: 0, rows: [] });
    await open.rollback();
  });

  it('R2: a fence that raises takes COMMIT with it: no effect stays, and its own error is thrown', async () => {
    const open = await database.begin();
    await insert(open, 'a');
    expect(sqlStateOf(await rejection(open.commit(fenceOf(0))))).toBe('22012');
    expect(await notes(testDatabase)).toEqual([]);
  });

  it('R3, K72: a swallowed error fails the commit, which names the first error and not that the transaction is aborted', async () => {
    for (const fence of [undefined, fenceOf(1)]) {
      const open = await database.begin();
      await insert(open, 'a');
      await rejection(open.transaction.sql.query('SELECT * FROM nowhere'));
      await rejection(open.transaction.sql.query('SELECT 1'));
      expect(open.state).toBe('aborted');
      expect(sqlStateOf(open.firstError)).toBe('42P01');
      const error = await rejection(open.commit(fence));
      expect(error).toBeInstanceOf(TransactionAbortedError);
      expect(sqlStateOf((error as Error).cause)).toBe('42P01');
    }
    expect(await notes(testDatabase)).toEqual([]);
  });

  it('R3: an error undone by a savepoint does not count', async () => {
    const open = await database.begin();
    const { sql } = open.transaction;
    await sql.query('SAVEPOINT here');
    await rejection(sql.query('SELECT * FROM nowhere'));
    await sql.query('ROLLBACK TO SAVEPOINT here');
    expect(open.firstError).toBeUndefined();
    await insert(open, 'a');
    await open.commit(fenceOf(1));
    expect(await notes(testDatabase)).toEqual(['a']);
  });

  it('R3: a deferred constraint that fails at COMMIT is the error of the commit', async () => {
    const open = await database.begin();
    await insert(open, 'a');
    await insert(open, 'a');
    expect(sqlStateOf(await rejection(open.commit(fenceOf(1))))).toBe('23505');
    expect(await notes(testDatabase)).toEqual([]);
  });

  it('R4: a late query rejects, through whatever was kept of the transaction', async () => {
    const open = await database.begin();
    const { sql } = open.transaction;
    await open.commit();
    expect(await rejection(sql.query(`INSERT INTO note (text) VALUES ('late')`))).toBeInstanceOf(
      TransactionSettledError,
    );
    expect(() => executorOf(open)).toThrow(TransactionSettledError);
    expect(() => open.transaction.afterCommit(() => undefined)).toThrow(TransactionSettledError);
    expect(await rejection(open.commit())).toBeInstanceOf(TransactionSettledError);
    await open.rollback();
    expect(open.destroy(new Error('late'))).toBe(false);
    expect(await notes(testDatabase)).toEqual([]);
  });

  it('R4: a query that was not awaited is still part of the transaction', async () => {
    const open = await database.begin();
    const first = open.transaction.sql.query(`SELECT pg_sleep(0.05)`);
    const second = insert(open, 'a');
    await open.commit(fenceOf(1));
    await Promise.all([first, second]);
    expect(await notes(testDatabase)).toEqual(['a']);
  });

  it.each([
    'COMMIT',
    ' rollback',
    '/* done */ end;',
    'ABORT',
    '-- over\nROLLBACK AND CHAIN',
    `PREPARE TRANSACTION 'x'`,
  ])('K31: %j inside the transaction is refused, and the transaction fails', async (text) => {
    const open = await database.begin();
    await insert(open, 'a');
    expect(await rejection(open.transaction.sql.query(text))).toBeInstanceOf(TransactionEndedError);
    expect(await rejection(open.commit(fenceOf(1)))).toBeInstanceOf(TransactionEndedError);
    expect(await notes(testDatabase)).toEqual([]);
  });

  it('K31: a COMMIT hidden among other statements is detected', async () => {
    const open = await database.begin();
    await open.transaction.sql.query('SELECT 1; COMMIT');
    expect(open.state).toBe('ended');
    expect(await rejection(open.commit(fenceOf(1)))).toBeInstanceOf(TransactionEndedError);
  });

  it('K31: a session that was changed for good is not used again', async () => {
    const open = await database.begin();
    const pid = await backend(open);
    await open.transaction.sql.query(`SET statement_timeout = '7s'`);
    await open.commit();
    const local = await database.begin();
    expect(await backend(local)).not.toBe(pid);
    const kept = await backend(local);
    await local.transaction.sql.query(`SET LOCAL statement_timeout = '7s'`);
    await local.commit();
    const next = await database.begin();
    expect(await backend(next)).toBe(kept);
    await next.rollback();
  });

  it('K14: a killed backend is the recorded error, is told from others, and the pool gets a working client', async () => {
    const open = await database.begin();
    await insert(open, 'a');
    const pid = await backend(open);
    const running = rejection(open.transaction.sql.query('SELECT pg_sleep(60)'));
    await waitFor(() => kill(pid), { what: 'the backend' });
    expect(isConnectionLost(await running)).toBe(true);
    expect(open.lost).toBeInstanceOf(ConnectionLostError);
    expect(open.firstError).toBe(open.lost);
    await open.rollback();
    const next = await database.begin();
    expect(await backend(next)).not.toBe(pid);
    await next.commit();
  });

  it('K14, K116: a backend killed while nothing runs is no unhandled error and never committed', async () => {
    const open = await database.begin();
    await insert(open, 'a');
    await kill(await backend(open));
    await waitFor(() => open.lost, { what: 'the loss to be seen' });
    expect(open.state).toBe('ended');
    expect(await rejection(open.commit(fenceOf(1)))).toBeInstanceOf(ConnectionLostError);
    expect(await notes(testDatabase)).toEqual([]);
  });

  it('R3: a connection lost after the fence was sent leaves the commit unknown', async () => {
    const open = await database.begin();
    await insert(open, 'a');
    const pid = await backend(open);
    const slow = new Statement<void, unknown>({ name: 'slow', text: () => 'SELECT pg_sleep(60)', values: () => [] });
    const commit = rejection(open.commit(slow.bind(new SchemaName('holdfast'), undefined)));
    await waitFor(
      () =>
        testDatabase
          .adminQuery(`SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND query LIKE '%pg_sleep%'`, [pid])
          .then((r) => r.length > 0),
      { what: 'the fence' },
    );
    expect(open.destroy(new Error('too late'))).toBe(false);
    await kill(pid);
    expect(await commit).toBeInstanceOf(CommitUnknownError);
    expect(await notes(testDatabase)).toEqual([]);
  });

  it('R6: destroy ends what is running and what follows', async () => {
    const open = await database.begin();
    await insert(open, 'a');
    const running = rejection(open.transaction.sql.query('SELECT pg_sleep(60)'));
    const reason = new Error('timed out');
    expect(open.destroy(reason)).toBe(true);
    expect(await within(running, 2_000, 'the running query')).toBe(reason);
    expect(await rejection(open.commit(fenceOf(1)))).toBe(reason);
    await open.rollback();
    expect(await notes(testDatabase)).toEqual([]);
  });

  it('R6: destroyed while a commit waits for what is in flight, the fence is never sent', async () => {
    const open = await database.begin();
    await insert(open, 'a');
    const running = rejection(open.transaction.sql.query('SELECT pg_sleep(60)'));
    const commit = rejection(open.commit(fenceOf(1)));
    const reason = new Error('timed out');
    expect(open.destroy(reason)).toBe(true);
    expect(await commit).toBe(reason);
    await running;
    expect(await notes(testDatabase)).toEqual([]);
  });

  it('K16: a transaction that cannot begin gives its client back, however often', async () => {
    for (let i = 0; i < 10; i++) {
      const error = await rejection(database.begin({ settings: { 'not a setting': 'x' } }));
      expect(sqlStateOf(error)).toBe('42704');
    }
    const open = await database.begin();
    await insert(open, 'a');
    await open.commit();
    expect(await notes(testDatabase)).toEqual(['a']);
  });

  it('K16: an exhausted pool is refused in time with its size and the remedy, and clients that arrive late go back', async () => {
    const all = await Promise.all([1, 2, 3].map(() => database.begin()));
    const error = await rejection(database.begin({ acquireTimeoutMs: 50 }));
    expect(error).toBeInstanceOf(PoolExhaustedError);
    expect(error).toMatchObject({ code: 'kernel.pool_exhausted', poolSize: database.poolSize });
    expect((error as Error).message).toMatch(/All 3 connections .*Raise the size/);
    await Promise.all(all.map((open) => open.rollback()));
    const again = await Promise.all([1, 2, 3].map(() => database.begin()));
    await Promise.all(again.map((open) => open.commit()));
  });

  it('sets isolation, read only and settings for this transaction alone, whatever is written in them', async () => {
    const value = `it's \\ "quoted"; COMMIT; --`;
    const settings = { 'app.tenant': value, 'holdfast.run': 'token', search_path: 'pg_catalog, public' };
    const open = await database.begin({ isolation: 'REPEATABLE READ', readOnly: true, settings });
    const { rows } = await open.transaction.sql.query(
      `SELECT current_setting('app.tenant') AS tenant, current_setting('holdfast.run') AS run, current_setting('search_path') AS path,
         current_setting('transaction_isolation') AS isolation, current_setting('transaction_read_only') AS ro`,
    );
    expect(rows).toEqual([
      { isolation: 'repeatable read', path: 'pg_catalog, public', ro: 'on', run: 'token', tenant: value },
    ]);
    await open.commit();
    const next = await database.begin();
    const after = await next.transaction.sql.query(
      `SELECT current_setting('app.tenant', true) AS tenant, current_setting('transaction_isolation') AS isolation`,
    );
    expect(after.rows).toEqual([{ isolation: 'read committed', tenant: '' }]);
    await next.rollback();
  });

  it('K33: a write that a read-only transaction was asked to refuse is no lost connection', async () => {
    const open = await database.begin({ readOnly: true });
    const pid = await backend(open);
    expect(sqlStateOf(await rejection(insert(open, 'a')))).toBe('25006');
    expect(open.lost).toBeUndefined();
    await open.rollback();
    const next = await database.begin();
    expect(await backend(next)).toBe(pid);
    await next.rollback();
  });

  it('K33: a server that has become read-only is a lost connection, and the pool recovers', async () => {
    await testDatabase.terminateBackends();
    await testDatabase.adminQuery(`ALTER DATABASE "${testDatabase.name}" SET default_transaction_read_only = on`);
    const open = await database.begin();
    await rejection(insert(open, 'a'));
    expect(open.lost).toBeInstanceOf(ConnectionLostError);
    await open.rollback();
    await testDatabase.adminQuery(`ALTER DATABASE "${testDatabase.name}" RESET default_transaction_read_only`);
    const next = await database.begin();
    await insert(next, 'a');
    await next.commit();
    expect(await notes(testDatabase)).toEqual(['a']);
  });

  it('Q1: is joined by whoever is handed it', async () => {
    const open = await database.begin();
    await executorOf(open).query(`INSERT INTO note (text) VALUES ('a')`);
    await executorOf(open.transaction).query(`INSERT INTO note (text) VALUES ('b')`);
    await executorOf(open.transaction.sql).query(`INSERT INTO note (text) VALUES ('c')`);
    await open.rollback();
    expect(await notes(testDatabase)).toEqual([]);
    expect(() => executorOf(pool)).toThrow(NoOpenTransactionError);
  });
});

describe('a transaction of TypeORM', () => {
  let testDatabase: TestDatabase;
  let database: Database;
  let pool: Pool;

  beforeAll(async () => {
    testDatabase = await createEmptyDatabase();
    await createNotes(testDatabase);
    ({ database, pool } = await KINDS.typeorm(testDatabase));
  });
  beforeEach(() => testDatabase.adminQuery('TRUNCATE note, plain'));
  afterEach(() =>
    waitFor(() => pool.totalCount === pool.idleCount, { deadlineMs: 3_000, what: 'every client to be back' }),
  );
  afterAll(() => testDatabase.drop());

  const nested = (manager: EntityManager, text: string) => manager.transaction((inner) => inner.save(Note, { text }));

  it('R4: save() and nested transactions stay inside: after a rollback nothing is left', async () => {
    const open = await database.begin();
    const { manager } = open.transaction;
    await manager.save(Note, { text: 'saved' });
    await nested(manager, 'nested');
    await manager.getRepository(Note).save([{ text: 'one' }, { text: 'two' }]);
    await open.rollback();
    expect(await notes(testDatabase)).toEqual([]);
  });

  it('R4: a nested transaction that fails is undone alone', async () => {
    const open = await database.begin();
    const { manager } = open.transaction;
    await manager.save(Note, { text: 'kept' });
    await rejection(
      manager.transaction(async (inner) => {
        await nested(inner, 'gone');
        await inner.query('SELECT * FROM nowhere');
      }),
    );
    expect(open.state).toBe('open');
    await nested(manager, 'also kept');
    await open.commit(fenceOf(1));
    expect(await notes(testDatabase)).toEqual(['kept', 'also kept']);
  });

  it('R4: in an aborted transaction a nested one cannot end it, and save() cannot commit one of its own', async () => {
    const open = await database.begin();
    const { manager } = open.transaction;
    await manager.save(Note, { text: 'a' });
    await rejection(manager.query('SELECT * FROM nowhere'));
    await rejection(nested(manager, 'b'));
    await rejection(manager.save(Note, { text: 'c' }));
    await rejection(nested(manager, 'd'));
    expect(open.state).toBe('aborted');
    const error = await rejection(open.commit(fenceOf(1)));
    expect(error).toBeInstanceOf(TransactionAbortedError);
    expect(sqlStateOf((error as Error).cause)).toBe('42P01');
    expect(await notes(testDatabase)).toEqual([]);
  });

  it('K31: ending it through the query runner, or through the client behind it, is refused', async () => {
    const open = await database.begin();
    const { queryRunner } = open.transaction.manager;
    await open.transaction.manager.save(Note, { text: 'a' });
    expect(await rejection(queryRunner!.commitTransaction())).toMatchObject({
      driverError: expect.any(TransactionEndedError),
    });
    const client = await queryRunner!.connect();
    expect(await rejection(client.query('COMMIT'))).toBeInstanceOf(TransactionEndedError);
    expect(() => client.release()).toThrow(TransactionEndedError);
    expect(await rejection(open.commit(fenceOf(1)))).toBeInstanceOf(TransactionEndedError);
    expect(await notes(testDatabase)).toEqual([]);
  });

  it('R4: the manager, its repositories and the client behind it are dead once the transaction has ended', async () => {
    const open = await database.begin();
    const { manager } = open.transaction;
    const repository = manager.getRepository(Note);
    const client = await manager.queryRunner!.connect();
    await open.commit(fenceOf(1));
    await rejection(manager.save(Note, { text: 'a' }));
    await rejection(repository.insert({ text: 'b' }));
    await rejection(manager.transaction(() => Promise.resolve()));
    expect(await rejection(client.query(`INSERT INTO note (text) VALUES ('c')`))).toBeInstanceOf(
      TransactionSettledError,
    );
    expect(() => executorOf(manager)).toThrow(NoOpenTransactionError);
    expect(await notes(testDatabase)).toEqual([]);
  });

  it('R4: a save() that was not awaited does not run in somebody else’s transaction', async () => {
    const open = await database.begin();
    const late = open.transaction.manager.save(Note, { text: 'floating' }).catch(() => 'rejected');
    await open.rollback();
    const next = await database.begin();
    await late;
    await next.commit();
    expect(await notes(testDatabase)).toEqual([]);
  });

  it('lets TypeORM’s subscribers see the end, and roll back from it', async () => {
    const seen: string[] = [];
    const refusals: Error[] = [];
    const dataSource = database.identity as DataSource;
    dataSource.subscribers.push({
      afterTransactionCommit: () => void seen.push('committed'),
      afterTransactionRollback: () => void seen.push('rolled back'),
      beforeTransactionCommit: async ({ manager }) => {
        seen.push('committing');
        await manager.save(Note, { text: 'by the subscriber' });
        for (const refusal of refusals) throw refusal;
      },
    });
    const open = await database.begin();
    await open.commit(fenceOf(1));
    refusals.push(new Error('not now'));
    const second = await database.begin();
    expect(await rejection(second.commit(fenceOf(1)))).toBe(refusals[0]);
    dataSource.subscribers.pop();
    expect(seen).toEqual(['committing', 'committed', 'committing', 'rolled back']);
    expect(await notes(testDatabase)).toEqual(['by the subscriber']);
  });

  it('refuses a DataSource that has not been initialized, and says so', async () => {
    const uninitialized = typeOrm(new DataSource({ type: 'postgres', url: testDatabase.url }));
    expect(await rejection(uninitialized.begin())).toBeInstanceOf(DataSourceNotInitializedError);
    expect(() => uninitialized.connectionConfig()).toThrow(DataSourceNotInitializedError);
  });

  it('Q1: executorOf joins managers and query runners with a transaction, and refuses those without', async () => {
    const open = await database.begin();
    await executorOf(open.transaction.manager).query(`INSERT INTO note (text) VALUES ('a')`);
    await open.rollback();
    const dataSource = database.identity as DataSource;
    await rejection(
      dataSource.transaction(async (manager) => {
        await executorOf(manager).query('INSERT INTO note (text) VALUES ($1)', ['a'], 'insert-note');
        await executorOf(manager.queryRunner!).query('INSERT INTO note (text) VALUES ($1)', ['b'], 'insert-note');
        throw new Error('roll it back');
      }),
    );
    expect(await notes(testDatabase)).toEqual([]);
    const queryRunner = dataSource.createQueryRunner();
    for (const handle of [dataSource.manager, queryRunner, queryRunner.manager]) {
      expect(() => executorOf(handle)).toThrow(NoOpenTransactionError);
    }
    await queryRunner.startTransaction();
    const executor = executorOf(queryRunner);
    expect(await executor.query(`INSERT INTO note (text) VALUES ('kept')`)).toEqual({ rowCount: 1, rows: [] });
    await queryRunner.commitTransaction();
    expect(await rejection(executor.query('SELECT 1'))).toBeInstanceOf(NoOpenTransactionError);
    await queryRunner.release();
    expect(await notes(testDatabase)).toEqual(['kept']);
  });
});

describe('a pg client', () => {
  it('Q1: is joined after BEGIN and refused without', async () => {
    const testDatabase = await createEmptyDatabase();
    await createNotes(testDatabase);
    const client = await testDatabase.client();
    expect(() => executorOf(client)).toThrow(NoOpenTransactionError);
    await client.query('BEGIN');
    const executor = executorOf(client);
    const answer = await executor.query('INSERT INTO note (text) VALUES ($1) RETURNING text', ['a'], 'insert');
    expect(answer).toEqual({ rowCount: 1, rows: [{ text: 'a' }] });
    await client.query('ROLLBACK');
    expect(await rejection(executor.query('SELECT 1'))).toBeInstanceOf(NoOpenTransactionError);
    await testDatabase.drop();
  });
});
