import { createEmptyDatabase, waitFor, type TestDatabase } from '@holdfast/testing';
import type { Pool } from 'pg';
import { TransactionEndedError } from '../src/errors/transaction-ended.error.js';
import { TransactionSettledError } from '../src/errors/transaction-settled.error.js';
import { sqlStateOf } from '../src/errors/sql-state.js';
import type { Database, OpenTransaction } from '../src/transaction/database.js';
import type { Transaction } from '../src/transaction/transaction.js';
import { createNotes, KINDS, Note, notes } from './databases.js';
import { rejection } from './rejection.js';

const insert = (transaction: Transaction, text: string) =>
  transaction.sql.query('INSERT INTO note (text) VALUES ($1)', [text]);

describe.each(Object.entries(KINDS))('a transaction of %s that is handed on', (kind, openDatabase) => {
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

  const settingOf = async (open: OpenTransaction) =>
    (await open.transaction.sql.query(`SELECT current_setting('app.tenant', true) AS tenant`)).rows;

  it('T1, R4: each part has its own scope and its own handle, which dies with it; all of them commit together', async () => {
    const called: string[] = [];
    const open = await database.begin({ settings: { 'app.tenant': 'blue' }, shared: true, tenantId: 'blue' });
    const first = open.transaction;
    first.afterCommit(() => void called.push('first'));
    await insert(first, 'a');
    expect([first.tenantId, await settingOf(open)]).toEqual(['blue', [{ tenant: 'blue' }]]);
    await open.next({ settings: { 'app.tenant': `it's` }, tenantId: `it's` });
    const second = open.transaction;
    second.afterCommit(() => void called.push('second'));
    expect([second.tenantId, await settingOf(open)]).toEqual([`it's`, [{ tenant: `it's` }]]);
    await insert(second, 'b');
    await expect(insert(first, 'late')).rejects.toThrow(TransactionSettledError);
    expect(() => first.afterCommit(() => undefined)).toThrow(TransactionSettledError);
    expect([called, await notes(testDatabase)]).toEqual([[], []]);
    await open.commit();
    expect([called, await notes(testDatabase)]).toEqual([
      ['first', 'second'],
      ['a', 'b'],
    ]);
  });

  it('a query that nobody awaited belongs to the part that sent it, and its failure ends the transaction', async () => {
    const open = await database.begin({ shared: true });
    void insert(open.transaction, 'a');
    await open.next({});
    void open.transaction.sql.query('SELECT 1/0');
    expect(await rejection(open.next({}))).toMatchObject({ code: 'kernel.transaction_aborted' });
    await open.rollback();
    expect(await notes(testDatabase)).toEqual([]);
  });

  it('R3: what a part leaves must hold at its end: the next one cannot put it right', async () => {
    await testDatabase.adminQuery(`INSERT INTO note (text) VALUES ('there')`);
    const open = await database.begin({ shared: true });
    await insert(open.transaction, 'there');
    await open.next({});
    const { sql } = open.transaction;
    const answers = await Promise.all([
      rejection(sql.query(`DELETE FROM note WHERE text = 'there'`)),
      rejection(sql.query('SELECT 1')),
    ]);
    expect(answers.map(sqlStateOf)).toEqual(['25P02', '25P02']);
    expect(sqlStateOf(open.firstError)).toBe('23505');
    expect(await rejection(open.commit())).toMatchObject({
      cause: { code: '23505' },
      code: 'kernel.transaction_aborted',
    });
    expect(await notes(testDatabase)).toEqual(['there']);
  });

  it('R3: the same holds for parts that send nothing: COMMIT checks what was left', async () => {
    await testDatabase.adminQuery(`INSERT INTO note (text) VALUES ('there')`);
    const open = await database.begin({ shared: true });
    await insert(open.transaction, 'there');
    await open.next({});
    await open.next({});
    expect(sqlStateOf(await rejection(open.commit()))).toBe('23505');
  });

  it('statements that are sent at once in a new part go one after another, as they always do', async () => {
    const open = await database.begin({ shared: true });
    await open.next({ settings: { 'app.tenant': 'blue' } });
    const { sql } = open.transaction;
    const sent = [1, 2, 3].map((n) => sql.query<{ t: string }>(`SELECT current_setting('app.tenant') || $1 AS t`, [n]));
    expect((await Promise.all(sent)).map(({ rows }) => rows[0]!.t)).toEqual(['blue1', 'blue2', 'blue3']);
    await open.next({});
    const failing = rejection(open.transaction.sql.query('SELECT 1/0'));
    const behind = rejection(open.transaction.sql.query('SELECT 1'));
    expect([await failing, await behind].map(sqlStateOf)).toEqual(['22012', '25P02']);
    await open.rollback();
    const again = await database.begin();
    expect((await again.transaction.sql.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await again.rollback();
  });

  it('R3: constraints are as deferred in the next part as in the first, those that are not deferred included', async () => {
    await testDatabase.adminQuery('CREATE TABLE IF NOT EXISTS soon (n int UNIQUE DEFERRABLE INITIALLY IMMEDIATE)');
    const open = await database.begin({ shared: true });
    await insert(open.transaction, 'a');
    await open.next({});
    await insert(open.transaction, 'a');
    await open.transaction.sql.query(`DELETE FROM note WHERE id = (SELECT max(id) FROM note)`);
    await open.next({});
    await open.transaction.sql.query('INSERT INTO soon VALUES (1)');
    const twice = await rejection(open.transaction.sql.query('INSERT INTO soon VALUES (1)'));
    expect(sqlStateOf(twice)).toBe('23505');
    await open.rollback();
  });

  it('R4: a text that hides a COMMIT among others is refused before it is sent; nothing of the transaction commits', async () => {
    const open = await database.begin({ shared: true });
    await insert(open.transaction, 'innocent');
    await open.next({});
    await expect(open.transaction.sql.query('SELECT 1; COMMIT; BEGIN')).rejects.toThrow(TransactionEndedError);
    await expect(open.commit()).rejects.toThrow(TransactionEndedError);
    expect(await notes(testDatabase)).toEqual([]);
  });

  it('is over when it is destroyed, in whatever part', async () => {
    const open = await database.begin({ shared: true });
    await insert(open.transaction, 'a');
    const slow = rejection(open.transaction.sql.query('SELECT pg_sleep(20)'));
    const next = rejection(open.next({}));
    open.destroy(new Error('stopped'));
    expect((await next) as Error).toMatchObject({ message: 'stopped' });
    await slow;
    await expect(open.next({})).rejects.toThrow('stopped');
    expect(await notes(testDatabase)).toEqual([]);
  });

  it.each([
    ['SET LOCAL', `SET LOCAL work_mem = '64kB'`, true],
    ['set_config for the transaction', `SELECT set_config('my.own', 'x', true)`, true],
    ['SET in DO', `DO $$ BEGIN SET LOCAL my.own = 'x'; END $$`, true],
    ['SET CONSTRAINTS', 'SET CONSTRAINTS ALL IMMEDIATE', true],
    ['an open savepoint', 'SAVEPOINT mine', true],
    ['a cursor', 'DECLARE c CURSOR FOR SELECT 1', true],
    ['a temporary table', 'CREATE TEMP TABLE t (a int) ON COMMIT DROP', true],
    ['a lock of the session', 'SELECT pg_advisory_lock(7)', true],
    ['an update', `UPDATE note SET text = 'b'`, false],
    ['a savepoint that was released', 'SAVEPOINT mine; RELEASE SAVEPOINT mine', false],
    ['a lock of the transaction', 'SELECT pg_advisory_xact_lock(7)', false],
  ])('tells whether the code that comes next would find something: %s', async (_, text, lingers) => {
    const open = await database.begin({ shared: true });
    expect(open.lingers).toBe(false);
    await open.transaction.sql.query(text);
    expect(open.lingers).toBe(lingers);
    await open.rollback();
  });

  if (kind === 'typeorm') {
    it('R4: save() and a nested manager.transaction() stay inside, in every part, and linger for none', async () => {
      const open = await database.begin({ shared: true });
      await open.transaction.manager.save(Note, { text: 'a' });
      await open.next({});
      await open.transaction.manager.save(Note, { text: 'b' });
      await open.transaction.manager.transaction((nested) => nested.save(Note, { text: 'c' }));
      expect(open.lingers).toBe(false);
      await open.next({});
      expect(await notes(testDatabase)).toEqual([]);
      await open.commit();
      expect(await notes(testDatabase)).toEqual(['a', 'b', 'c']);
    });
  }
});
