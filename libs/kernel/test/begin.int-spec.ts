import { EventEmitter } from 'node:events';
import { createEmptyDatabase, TcpProxy, testbed, waitFor, within, type TestDatabase } from '@holdfast/testing';
import type { Pool, PoolClient } from 'pg';
import { ConnectionLostError } from '../src/errors/connection-lost.error.js';
import { isConnectionLost, sqlStateOf } from '../src/errors/sql-state.js';
import { StatementDeadlineError } from '../src/errors/statement-deadline.error.js';
import { TransactionAbortedError } from '../src/errors/transaction-aborted.error.js';
import { SchemaName } from '../src/sql/schema-name.js';
import { Statement } from '../src/sql/statement.js';
import type { OpenTransaction } from '../src/transaction/database.js';
import { pgPool } from '../src/transaction/pg.database.js';
import { createNotes, KINDS, notes } from './databases.js';
import { rejection } from './rejection.js';

const fence = new Statement<void, unknown>({ name: 'fence', text: () => 'SELECT 1', values: () => [] }).bind(
  new SchemaName('holdfast'),
  undefined,
);

/** countRoundTrips counts how often a client spoke after it had listened. */
function countRoundTrips(client: PoolClient): () => number {
  const { stream } = (client as unknown as { connection: { stream: NodeJS.ReadWriteStream } }).connection;
  let spoke = false;
  let trips = 0;
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  Object.assign(stream, {
    write: (...args: unknown[]) => {
      if (!spoke) trips++;
      spoke = true;
      return write(...args);
    },
  });
  stream.on('data', () => (spoke = false));
  return () => trips;
}

/** The settings that bound a transaction: a server before PostgreSQL 17 has two that come close to the one. */
const BOUNDS =
  testbed().major < 17 ? ['statement_timeout', 'idle_in_transaction_session_timeout'] : ['transaction_timeout'];

describe('beginning a transaction', () => {
  let testDatabase: TestDatabase;

  beforeAll(async () => {
    testDatabase = await createEmptyDatabase();
    await createNotes(testDatabase);
  });
  afterAll(() => testDatabase.drop());

  const idle = (pool: Pool) =>
    waitFor(() => pool.totalCount === pool.idleCount, { deadlineMs: 3_000, what: 'every client to be back' });
  const insert = (open: OpenTransaction, text: string) =>
    open.transaction.sql.query('INSERT INTO note (text) VALUES ($1)', [text]);

  it.each(Object.entries(KINDS))(
    'takes one round trip with %s, and so does a fenced commit',
    async (_, openDatabase) => {
      const { database, pool } = await openDatabase(testDatabase, 1);
      const options = { boundMs: 60_000, settings: { 'app.tenant': 'a', 'holdfast.run': 'token' } };
      const client = await pool.connect();
      const trips = countRoundTrips(client);
      client.release();
      const measured: number[] = [];
      for (let run = 0; run < 3; run++) {
        const start = trips();
        const open = await database.begin(options);
        const begun = trips();
        await open.commit(fence);
        measured.push(begun - start, trips() - begun);
      }
      // Once per connection two more: its own bounds are asked for, and it is told to look after its client.
      expect(measured).toEqual([3, 1, 1, 1, 1, 1]);
    },
  );

  it.each([
    ['no bound of its own', undefined, 300],
    ['a looser bound', '1h', 300],
    ['a tighter bound', '300ms', 60_000],
  ])('R1: the server ends a transaction whose role has %s at the tighter one', async (_, ofRole, boundMs) => {
    const role = await testDatabase.createRole({ attributes: 'SUPERUSER' });
    for (const name of ofRole ? BOUNDS : [])
      await testDatabase.adminQuery(`ALTER ROLE "${role.name}" SET ${name} = '${ofRole}'`);
    const pool = testDatabase.pool({ connectionString: role.url });
    const database = pgPool(pool);
    for (const sleep of [false, true]) {
      const startedAt = performance.now();
      const open = await database.begin({ boundMs });
      await insert(open, 'never');
      const failure = sleep ? await rejection(open.transaction.sql.query('SELECT pg_sleep(60)')) : undefined;
      const statementAlone = sleep && BOUNDS.length > 1;
      if (statementAlone) {
        // The transaction is aborted: it holds nothing any more, and nothing of it can commit.
        expect(sqlStateOf(failure)).toBe('57014');
        expect(await rejection(insert(open, 'never'))).toMatchObject({ code: '25P02' });
      } else {
        if (sleep) expect(isConnectionLost(failure)).toBe(true);
        await waitFor(() => open.lost, { deadlineMs: 5_000, what: 'the server to end it' });
        expect(sqlStateOf(open.lost)).toBe(BOUNDS.length > 1 ? '25P03' : '25P04');
      }
      expect(performance.now() - startedAt).toBeGreaterThan(250);
      expect(performance.now() - startedAt).toBeLessThan(3_000);
      expect(await rejection(open.commit(fence))).toBeInstanceOf(
        statementAlone ? TransactionAbortedError : ConnectionLostError,
      );
    }
    await idle(pool);
    expect(await notes(testDatabase)).toEqual([]);
  });

  it('R1: the bound is gone with its transaction', async () => {
    const pool = testDatabase.pool({ max: 1 });
    const database = pgPool(pool);
    const bounded = await database.begin({ boundMs: 30_000 });
    await bounded.commit();
    const next = await database.begin();
    const { rows } = await next.transaction.sql.query(
      'SELECT DISTINCT current_setting(name) AS bound FROM unnest($1::text[]) AS name',
      [BOUNDS],
    );
    expect(rows).toEqual([{ bound: '0' }]);
    await next.rollback();
  });

  it.each(Object.entries(KINDS))(
    'K16: with %s, a backend killed after checkout costs one attempt and no connection',
    async (_, openDatabase) => {
      const { database, pool } = await openDatabase(testDatabase, 3);
      for (let i = 0; i < 10; i++) {
        pool.once('acquire', (client) => {
          (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
        });
        expect(await rejection(database.begin())).toBeInstanceOf(ConnectionLostError);
      }
      await idle(pool);
      const all = await Promise.all([1, 2, 3].map(() => database.begin()));
      await Promise.all(all.map((open) => open.rollback()));
    },
  );

  it('K16: a BEGIN that is not answered ends at its deadline, and its connection with it', async () => {
    const proxy = await TcpProxy.open(testDatabase.url);
    const pool = testDatabase.pool({ connectionString: proxy.url, max: 1 });
    const database = pgPool(pool);
    await pool.query('SELECT 1');
    proxy.freeze('answers');
    expect(await rejection(database.begin({ acquireTimeoutMs: 200 }))).toBeInstanceOf(StatementDeadlineError);
    await idle(pool);
    expect(pool.totalCount).toBe(0);
    proxy.pass();
    const open = await database.begin();
    await open.rollback();
    await pool.end();
    await proxy.close();
  });

  it.each(['killed', 'destroyed', 'severed'])(
    'K116: errors of a client that is %s while it runs never reach a pool that nobody listens to',
    async (how) => {
      const proxy = await TcpProxy.open(testDatabase.url);
      const pool = testDatabase.pool({ connectionString: proxy.url, listen: false, max: 2 });
      const errors: Error[] = [];
      const emit = jest.spyOn(pool, 'emit').mockImplementation((event, ...args: unknown[]) => {
        if (event === 'error') errors.push(args[0] as Error);
        return EventEmitter.prototype.emit.call(pool, event, ...args);
      });
      const open = await pgPool(pool).begin();
      const { rows } = await open.transaction.sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      const running = rejection(open.transaction.sql.query('SELECT pg_sleep(60)')).then(() => open.rollback());
      if (how === 'killed') await testDatabase.terminateBackends('pid = $1', [rows[0]!.pid]);
      if (how === 'destroyed') open.destroy(new Error('over'));
      if (how === 'severed') proxy.sever();
      await running;
      await idle(pool);
      expect(errors).toEqual([]);
      emit.mockRestore();
      await pool.end();
      await proxy.close();
    },
  );

  it('R3: a network that fails on COMMIT leaves the commit unknown', async () => {
    const proxy = await TcpProxy.open(testDatabase.url);
    const pool = testDatabase.pool({ connectionString: proxy.url, max: 1 });
    const open = await pgPool(pool).begin();
    await insert(open, 'committed');
    proxy.when({ act: () => proxy.freeze('answers'), text: 'COMMIT\0' });
    const commit = rejection(open.commit(fence));
    await waitFor(() => notes(testDatabase).then((texts) => texts.length > 0), { what: 'the commit to arrive' });
    proxy.sever();
    expect(await within(commit, 5_000, 'the commit to end')).toMatchObject({ code: 'kernel.commit_unknown' });
    await idle(pool);
    await pool.end();
    await proxy.close();
  });
});
