import { createEmptyDatabase, TcpProxy, waitFor, within, type TestDatabase } from '@holdfast/testing';
import { ControlConnections, type ControlConnectionsOptions } from '../src/connection/control.connections.js';
import { CommitUnknownError } from '../src/errors/commit-unknown.error.js';
import { ConnectionLostError } from '../src/errors/connection-lost.error.js';
import { PoolExhaustedError } from '../src/errors/pool-exhausted.error.js';
import { failureClassOf } from '../src/errors/classified.errors.js';
import { isConnectionLost, sqlStateOf } from '../src/errors/sql-state.js';
import { StatementDeadlineError } from '../src/errors/statement-deadline.error.js';
import { TransactionAbortedError } from '../src/errors/transaction-aborted.error.js';
import { TransactionSettledError } from '../src/errors/transaction-settled.error.js';
import { SchemaName } from '../src/sql/schema-name.js';
import type { SqlExecutor } from '../src/sql/sql-executor.js';
import { Statement } from '../src/sql/statement.js';
import { rejection } from './rejection.js';

const SCHEMA = new SchemaName('public');
const APPLICATION = 'holdfast control';
// Deadlines cover the connecting too, which a machine that does much else takes its time for: the shortest here is a second.
const countRows = new Statement<{ atLeast: number }, { n: number }>({
  name: 'count-rows',
  text: (schema) => `SELECT count(*)::int AS n FROM ${schema.of('item')} WHERE id >= $1::int`,
  values: ({ atLeast }) => [atLeast],
});

describe('control connections', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  const opened: ControlConnections[] = [];

  beforeAll(async () => {
    database = await createEmptyDatabase();
    await database.adminQuery('CREATE TABLE item (id int PRIMARY KEY)');
    proxy = await TcpProxy.open(database.url);
  });
  beforeEach(() => database.adminQuery('TRUNCATE item'));
  afterEach(async () => {
    proxy.pass();
    await within(Promise.all(opened.splice(0).map((control) => control.close())), 5_000, 'the connections to close');
  });
  afterAll(async () => {
    await proxy.close();
    await database.drop();
  });

  const connect = (options: Partial<ControlConnectionsOptions> = {}, connectionString = database.url) => {
    const control = new ControlConnections(
      { connectionString },
      { applicationName: APPLICATION, deadlineMs: 5_000, max: 2, ...options },
    );
    opened.push(control);
    return control;
  };
  const pidOf = async (executor: SqlExecutor) =>
    (await executor.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]!.pid;
  const items = async () =>
    (await database.adminQuery<{ id: number }>('SELECT id FROM item ORDER BY id')).map(({ id }) => id);
  const lockTable = async () => {
    const client = await database.client();
    await client.query('BEGIN; LOCK TABLE item');
    return client;
  };

  it('opens what it needs, no more than its bound, and names itself', async () => {
    const control = connect();
    expect(control.openCount).toBe(0);
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map(() => control.query<{ pid: number }>('SELECT pg_backend_pid() AS pid, pg_sleep(0.02)')),
    );
    expect(new Set(answers.map(({ rows }) => rows[0]!.pid)).size).toBe(2);
    expect([control.openCount, control.idleCount]).toEqual([2, 2]);
    const backends = await database.backends();
    expect(backends.filter((backend) => backend.application_name === APPLICATION)).toHaveLength(2);
  });

  it('keeps a statement prepared, or not where that is switched off', async () => {
    for (const preparedStatements of [true, false]) {
      const control = connect({ max: 1, preparedStatements });
      expect(await control.run(countRows, SCHEMA, { atLeast: 0 })).toEqual({ rowCount: 1, rows: [{ n: 0 }] });
      const { rows } = await control.query<{ name: string }>('SELECT name FROM pg_prepared_statements');
      expect(rows.map(({ name }) => name)).toEqual(
        preparedStatements ? [expect.stringMatching(/^holdfast-count-rows-[0-9a-f]{8}$/)] : [],
      );
    }
  });

  it.each(['repeatable read', 'serializable'])(
    'Q16: is READ COMMITTED also where the role’s default is %s',
    async (level) => {
      const role = await database.createRole();
      await database.adminQuery(`ALTER ROLE "${role.name}" SET default_transaction_isolation = '${level}'`);
      const control = connect({}, role.url);
      const show = `SELECT current_setting('transaction_isolation') AS level`;
      expect((await control.query(show)).rows).toEqual([{ level: 'read committed' }]);
      expect((await control.transaction((tx) => tx.query(show))).rows).toEqual([{ level: 'read committed' }]);
    },
  );

  it('commits what resolves and rolls back what rejects', async () => {
    const control = connect();
    const insert = (id: number) => (tx: SqlExecutor) => tx.query('INSERT INTO item VALUES ($1)', [id]);
    expect(await control.transaction(insert(1))).toEqual({ rowCount: 1, rows: [] });
    const boom = new Error('boom');
    expect(
      await rejection(
        control.transaction(async (tx) => {
          await insert(2)(tx);
          throw boom;
        }),
      ),
    ).toBe(boom);
    expect(
      sqlStateOf(
        await rejection(
          control.transaction(async (tx) => {
            await insert(3)(tx);
            await insert(1)(tx);
          }),
        ),
      ),
    ).toBe('23505');
    const swallowed = control.transaction(async (tx) => {
      await insert(4)(tx);
      await rejection(insert(1)(tx));
    });
    const error = await rejection(swallowed);
    expect(error).toBeInstanceOf(TransactionAbortedError);
    expect(sqlStateOf(error)).toBe('23505');
    let kept: SqlExecutor | undefined;
    await control.transaction(async (tx) => {
      kept = tx;
      await Promise.resolve();
    });
    expect(await rejection(kept!.query('SELECT 1'))).toBeInstanceOf(TransactionSettledError);
    expect(await items()).toEqual([1]);
    expect([control.openCount, control.idleCount]).toEqual([1, 1]);
  });

  it('R18: a statement that waits for a lock ends at its deadline, at the server too', async () => {
    const control = connect({ deadlineMs: 1_000 });
    const locker = await lockTable();
    const error = await rejection(control.run(countRows, SCHEMA, { atLeast: 0 }));
    expect(error).toBeInstanceOf(StatementDeadlineError);
    expect(failureClassOf(error)).toBe('unavailable');
    expect((error as Error).message).toContain('holdfast-count-rows');
    const waiting = () =>
      database.adminQuery(`SELECT 1 FROM pg_locks WHERE NOT granted`).then((rows) => rows.length === 0);
    await waitFor(waiting, { deadlineMs: 10_000, what: 'the server to have given up' });
    await locker.query('ROLLBACK');
    expect((await control.run(countRows, SCHEMA, { atLeast: 0 })).rowCount).toBe(1);
  });

  it('a call may have a longer deadline than the connections', async () => {
    const control = connect({ deadlineMs: 1_000 });
    const slow = new Statement<void, unknown>({ name: 'slow', text: () => 'SELECT pg_sleep(1.5)', values: () => [] });
    expect(await rejection(control.run(slow, SCHEMA, undefined))).toBeInstanceOf(StatementDeadlineError);
    expect((await control.run(slow, SCHEMA, undefined, { deadlineMs: 20_000 })).rowCount).toBe(1);
    expect((await control.transaction((tx) => slow.run(tx, SCHEMA, undefined), { deadlineMs: 20_000 })).rowCount).toBe(
      1,
    );
  });

  it.each(['answers', 'both'] as const)(
    'R18: a frozen network (%s) ends at the deadline, and the next call works',
    async (direction) => {
      const control = connect({ deadlineMs: 1_500, max: 1 }, proxy.url);
      await control.query('SELECT 1');
      proxy.freeze(direction);
      const startedAt = performance.now();
      expect(await rejection(control.query('SELECT 2'))).toBeInstanceOf(StatementDeadlineError);
      expect(performance.now() - startedAt).toBeLessThan(6_000);
      expect(isConnectionLost(await rejection(control.query('SELECT 3')))).toBe(true);
      proxy.pass();
      expect((await control.query('SELECT 4')).rowCount).toBe(1);
      expect(control.openCount).toBe(1);
    },
  );

  it('R18: a network that freezes on COMMIT leaves the commit unknown, and not longer than the deadline', async () => {
    const control = connect({ deadlineMs: 2_000 }, proxy.url);
    await control.query('SELECT 1');
    proxy.when({ act: () => proxy.freeze('answers'), text: 'COMMIT\0' });
    const error = await rejection(control.transaction((tx) => tx.query('INSERT INTO item VALUES (7)')));
    expect(error).toBeInstanceOf(CommitUnknownError);
    await waitFor(() => items().then((ids) => ids.length === 1), { what: 'the commit that nobody heard of' });
  });

  it('K116: a killed connection is destroyed, whether it was idle, between statements or running', async () => {
    const control = connect({ max: 1 });
    const first = await pidOf(control);
    await database.terminateBackends('pid = $1', [first]);
    await waitFor(() => control.openCount === 0, { what: 'the idle connection to be dropped' });
    const second = await pidOf(control);
    const running = rejection(control.query('SELECT pg_sleep(60)'));
    await waitFor(() => database.terminateBackends(`pid = $1 AND query LIKE '%sleep%'`, [second]), {
      what: 'the statement',
    });
    expect(await running).toBeInstanceOf(ConnectionLostError);
    const between = control.transaction(async (tx) => {
      await tx.query('INSERT INTO item VALUES (1)');
      await database.terminateBackends('pid = $1', [await pidOf(tx)]);
      await tx.query('INSERT INTO item VALUES (2)');
    });
    expect(await rejection(between)).toBeInstanceOf(ConnectionLostError);
    expect(await pidOf(control)).not.toBe(first);
    expect(control.openCount).toBe(1);
    expect(await items()).toEqual([]);
  });

  it('K33: a server that has become read-only is a dead connection; afterwards it recovers by itself', async () => {
    await database.adminQuery(`ALTER DATABASE "${database.name}" SET default_transaction_read_only = on`);
    const control = connect({ max: 1 });
    const before = await pidOf(control);
    const error = await rejection(control.query('INSERT INTO item VALUES (1)'));
    expect(error).toBeInstanceOf(ConnectionLostError);
    expect(sqlStateOf(error)).toBe('25006');
    const inTransaction = rejection(control.transaction((tx) => tx.query('INSERT INTO item VALUES (1)')));
    expect(await inTransaction).toBeInstanceOf(ConnectionLostError);
    await database.adminQuery(`ALTER DATABASE "${database.name}" RESET default_transaction_read_only`);
    expect(await pidOf(control)).not.toBe(before);
    await control.query('INSERT INTO item VALUES (1)');
    expect(await items()).toEqual([1]);
  });

  it('rejects in time when all are in use, with how many there are, and goes on when they come back', async () => {
    const control = connect({ deadlineMs: 1_500, max: 1 });
    let release!: () => void;
    const held = control.transaction(() => new Promise<void>((resolve) => (release = resolve)), { deadlineMs: 20_000 });
    await waitFor(() => release as unknown, { what: 'the transaction to begin' });
    const error = await rejection(control.query('SELECT 1'));
    expect(error).toBeInstanceOf(PoolExhaustedError);
    expect(error).toMatchObject({ poolSize: 1 });
    const next = control.query('SELECT 1');
    release();
    await held;
    expect((await next).rowCount).toBe(1);
  });

  it('rejects with the loss of the connection while the server cannot be reached, and recovers when it can', async () => {
    const control = connect({ max: 1 }, proxy.url);
    proxy.refuse();
    const errors = await Promise.all([1, 2, 3].map(() => rejection(control.query('SELECT 1'))));
    for (const error of errors) expect(error).toBeInstanceOf(ConnectionLostError);
    expect(control.openCount).toBe(0);
    proxy.pass();
    expect((await control.query('SELECT 1')).rowCount).toBe(1);
  });

  it('asks for the configuration, and for the password, at each new connection', async () => {
    let asked = 0;
    const { hostname, password, pathname, port, username } = new URL(database.url);
    const config = {
      database: pathname.slice(1),
      host: hostname,
      password: () => (asked++, Promise.resolve(password)),
      port: Number(port),
      user: username,
    };
    const control = new ControlConnections(() => config, { applicationName: APPLICATION, deadlineMs: 5_000, max: 1 });
    opened.push(control);
    await database.terminateBackends('pid = $1', [await pidOf(control)]);
    await waitFor(() => control.openCount === 0, { what: 'the connection to be dropped' });
    await control.query('SELECT 1');
    expect(asked).toBe(2);
  });

  it('closes once, after what is running, and refuses what comes later', async () => {
    const control = connect();
    const running = control.query('SELECT pg_sleep(0.05)');
    await waitFor(() => control.openCount > 0 && control.idleCount === 0, { what: 'the statement to run' });
    await Promise.all([control.close(), control.close()]);
    expect((await running).rowCount).toBe(1);
    expect(control.openCount).toBe(0);
    expect(await rejection(control.query('SELECT 1'))).toBeInstanceOf(ConnectionLostError);
  });
});
