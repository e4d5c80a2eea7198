import {
  CommitUnknownError,
  TransactionAbortedError,
  TransactionSettledError,
  type SqlExecutor,
} from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase, TcpProxy, waitFor, within } from '@holdfast/testing';
import { NotLeaderError } from '../../src/errors/not-leader.error.js';
import type { Candidate } from '../../src/ports/leadership.js';
import { leaderBackends, leaderLocks, Leaderships, losses, nextLoss } from './stand.js';

const TICK = { tickMs: 8_000 };
const LONG = { tickMs: 120_000 };
const INSERT = 'INSERT INTO note (text) VALUES ($1)';

/** A promise and what resolves it. */
function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open: () => open(), opened };
}

describe("a transaction through the leader's connection", () => {
  let db: TestDatabase;
  const leaderships = new Leaderships();

  beforeAll(async () => {
    db = await createTestDatabase();
    await db.adminQuery(
      'CREATE TABLE note (id bigint GENERATED ALWAYS AS IDENTITY, text text UNIQUE DEFERRABLE INITIALLY DEFERRED)',
    );
  });
  afterEach(async () => {
    await leaderships.close();
    await db.adminQuery('TRUNCATE note');
  });
  afterAll(() => db.drop());

  const notes = async () =>
    (await db.adminQuery<{ text: string }>('SELECT text FROM note ORDER BY id')).map((row) => row.text);
  const leader = async (options = TICK, name = 'reports', url = db.url): Promise<Candidate> => {
    const candidate = leaderships.on(url).candidate(name, options);
    expect(await candidate.acquire()).toBe(true);
    return candidate;
  };
  /** Begins a transaction that has written and then waits. */
  const waiting = async (candidate: Candidate) => {
    const { open, opened } = gate();
    const written = gate();
    const transaction = candidate.transaction(async (sql) => {
      await sql.query(INSERT, ['waiting']);
      written.open();
      await opened;
    });
    const outcome = transaction.then(
      () => 'committed',
      (error: unknown) => error,
    );
    await written.opened;
    return { open, outcome };
  };

  it('L3: commits together what is done in it, on the session that holds the lock, and answers what the work answers', async () => {
    const candidate = await leader();
    const pid = (await leaderLocks(db))[0]?.pid;
    const answer = await candidate.transaction(async (sql) => {
      await sql.query(INSERT, ['one']);
      await sql.query(INSERT, ['two']);
      expect(await notes()).toEqual([]);
      return (
        await sql.query<{ level: string; pid: number }>(
          `SELECT pg_backend_pid() AS pid, current_setting('transaction_isolation') AS level`,
        )
      ).rows[0];
    });
    expect(answer).toEqual({ level: 'read committed', pid });
    expect(await notes()).toEqual(['one', 'two']);
  });

  it('L3: what the work throws rolls back and is thrown, and leads on', async () => {
    const candidate = await leader();
    const failed = candidate.transaction(async (sql) => {
      await sql.query(INSERT, ['one']);
      throw new Error('not today');
    });
    await expect(failed).rejects.toThrow('not today');
    await expect(candidate.transaction((sql) => sql.query('SELECT 1 / 0'))).rejects.toThrow('division by zero');
    expect(await notes()).toEqual([]);
    expect(candidate.isLeader).toBe(true);
    await candidate.transaction((sql) => sql.query(INSERT, ['two']));
    expect(await notes()).toEqual(['two']);
  });

  it('L3: a failed statement that was caught fails the transaction with its cause; behind a savepoint it does not', async () => {
    const candidate = await leader();
    const caught = candidate.transaction(async (sql) => {
      await sql.query(INSERT, ['one']);
      await sql.query('SELECT 1 / 0').catch(() => undefined);
    });
    await expect(caught).rejects.toMatchObject({ cause: expect.objectContaining({ code: '22012' }) as unknown });
    await expect(caught).rejects.toBeInstanceOf(TransactionAbortedError);
    await candidate.transaction(async (sql) => {
      await sql.query(INSERT, ['two']);
      await sql.query('SAVEPOINT here');
      await sql.query('SELECT 1 / 0').catch(() => undefined);
      await sql.query('ROLLBACK TO SAVEPOINT here');
    });
    expect(await notes()).toEqual(['two']);
  });

  it('L3: a constraint that fails at the commit is the error, and the leader leads on', async () => {
    const candidate = await leader();
    const twice = candidate.transaction(async (sql) => {
      await sql.query(INSERT, ['same']);
      await sql.query(INSERT, ['same']);
    });
    await expect(twice).rejects.toMatchObject({ code: '23505' });
    expect(await notes()).toEqual([]);
    expect(await candidate.confirm()).toBe(true);
  });

  it('L3: nobody but the leader has one', async () => {
    const candidate = await leader();
    const other = leaderships.on(db.url).candidate('reports', TICK);
    expect(await other.acquire()).toBe(false);
    let called = false;
    const refused = other.transaction(() => Promise.resolve((called = true)));
    await expect(refused).rejects.toBeInstanceOf(NotLeaderError);
    expect(called).toBe(false);
    await candidate.release();
    await expect(candidate.transaction(() => Promise.resolve())).rejects.toBeInstanceOf(NotLeaderError);
  });

  it("L3: cannot commit once the leader's session was ended; it rejects at once, while its work goes on", async () => {
    const candidate = await leader(LONG);
    const { open, outcome } = await waiting(candidate);
    await db.terminateBackends("application_name = 'holdfast-leader'");
    const error = await within(outcome, 10_000, 'the transaction to reject');
    expect(error).toBeInstanceOf(NotLeaderError);
    expect(candidate.isLeader).toBe(false);
    open();
    const successor = leaderships.on(db.url).candidate('reports', TICK);
    expect(await successor.acquire()).toBe(true);
    expect(await notes()).toEqual([]);
  });

  it('L3: cannot commit once the name was given up, which waits for nobody', async () => {
    const candidate = await leader(LONG);
    const { open, outcome } = await waiting(candidate);
    await within(candidate.release(), 10_000, 'the name to be given up');
    expect(await outcome).toBeInstanceOf(NotLeaderError);
    const successor = leaderships.on(db.url).candidate('reports', TICK);
    expect(await successor.acquire()).toBe(true);
    open();
    await successor.transaction((sql) => sql.query(INSERT, ['successor']));
    expect(await notes()).toEqual(['successor']);
  });

  it('L3: cannot commit once the leadership was closed', async () => {
    const leadership = leaderships.on(db.url);
    const candidate = leadership.candidate('reports', LONG);
    await candidate.acquire();
    const { open, outcome } = await waiting(candidate);
    await within(leadership.close(), 10_000, 'the leadership to be closed');
    expect(await outcome).toBeInstanceOf(NotLeaderError);
    open();
    expect(await notes()).toEqual([]);
  });

  it('L3: cannot commit where the session lives and the lock does not: the fence raises together with COMMIT', async () => {
    const candidate = await leader(LONG);
    const lost = nextLoss(candidate);
    const unlocked = candidate.transaction(async (sql) => {
      await sql.query(INSERT, ['one']);
      await sql.query('SELECT pg_advisory_unlock_all()');
    });
    await expect(unlocked).rejects.toBeInstanceOf(NotLeaderError);
    expect((await lost).message).toMatch(/the lock was not on its session at the commit/);
    expect(await notes()).toEqual([]);
  });

  it('L3: cannot commit once the belief is over, though the session was still there', async () => {
    const proxy = await TcpProxy.open(db.url);
    try {
      const candidate = await leader({ tickMs: 2_000 }, 'reports', proxy.url);
      const { open, outcome } = await waiting(candidate);
      proxy.freeze('requests');
      const error = await within(outcome, 20_000, 'the transaction to reject');
      expect(error).toBeInstanceOf(NotLeaderError);
      open();
      await waitFor(async () => (await leaderLocks(db)).length === 0, { what: 'the server to free the lock' });
      expect(await notes()).toEqual([]);
    } finally {
      await leaderships.close();
      await proxy.close();
    }
  });

  it('L3: where the answer to COMMIT is lost, it says that nobody knows', async () => {
    const proxy = await TcpProxy.open(db.url);
    try {
      const candidate = await leader({ tickMs: 4_000 }, 'reports', proxy.url);
      proxy.when({ act: (p) => p.freeze('answers'), text: 'END $fence$; COMMIT' });
      const unknown = candidate.transaction((sql) => sql.query(INSERT, ['one']));
      await expect(unknown).rejects.toBeInstanceOf(CommitUnknownError);
      await waitFor(async () => (await notes()).length === 1, { what: 'the commit, which did arrive' });
    } finally {
      await leaderships.close();
      await proxy.close();
    }
  });

  it('L3: the executor is dead afterwards, also one whose rejection nobody looks at', async () => {
    const candidate = await leader();
    let kept: SqlExecutor | undefined;
    await candidate.transaction((sql) => Promise.resolve((kept = sql)));
    await expect(kept!.query('SELECT 1')).rejects.toBeInstanceOf(TransactionSettledError);
    void kept!.query('SELECT 1');
    await candidate
      .transaction(async (sql) => {
        void sql.query('SELECT 1 / 0');
        await Promise.resolve();
      })
      .catch(() => undefined);
    expect(candidate.isLeader).toBe(true);
  });

  it('L3: one that ends the transaction itself is told so', async () => {
    const candidate = await leader();
    const ended = candidate.transaction(async (sql) => {
      await sql.query(INSERT, ['one']);
      await sql.query('ROLLBACK');
    });
    await expect(ended).rejects.toMatchObject({ code: 'kernel.transaction_ended' });
    expect(await candidate.confirm()).toBe(true);
  });

  it('L2: the leader keeps proving itself while a transaction is open, also one that has failed', async () => {
    const candidate = await leader({ tickMs: 2_000 });
    const lost = losses(candidate);
    const done = candidate.transaction(
      async (sql) => {
        await sql.query('SELECT 1 / 0').catch(() => undefined);
        // Far longer than the server lets a silent transaction live, 0.7 tick.
        await db.adminQuery('SELECT pg_sleep(5)');
        expect(await candidate.confirm()).toBe(true);
      },
      { deadlineMs: 60_000 },
    );
    await expect(done).rejects.toBeInstanceOf(TransactionAbortedError);
    const kept = candidate.transaction(
      async (sql) => {
        await sql.query(INSERT, ['patience']);
        await db.adminQuery('SELECT pg_sleep(5)');
      },
      { deadlineMs: 60_000 },
    );
    await kept;
    expect(lost).toEqual([]);
    expect(await notes()).toEqual(['patience']);
  });

  it('L2: a statement has a quarter of a tick, the whole a tick unless told otherwise; neither ends the leadership', async () => {
    const candidate = await leader({ tickMs: 4_000 });
    const lost = losses(candidate);
    const slow = candidate.transaction((sql) => sql.query('SELECT pg_sleep(30)'));
    await expect(slow).rejects.toMatchObject({ code: 'kernel.statement_deadline' });
    const { opened } = gate();
    await expect(candidate.transaction(() => opened)).rejects.toMatchObject({ code: 'kernel.statement_deadline' });
    await expect(candidate.transaction(() => opened, { deadlineMs: 100 })).rejects.toThrow(/100/);
    expect(lost).toEqual([]);
    expect(candidate.isLeader).toBe(true);
    expect(await leaderBackends(db)).toHaveLength(1);
  });

  it('L3: of several at once each has its turn, those for other names too; one that waits in vain says so', async () => {
    const leadership = leaderships.on(db.url);
    const [a, b] = [leadership.candidate('a', LONG), leadership.candidate('b', LONG)];
    await Promise.all([a.acquire(), b.acquire()]);
    const { open, outcome } = await waiting(a);
    const second = b.transaction((sql) => sql.query(INSERT, ['b']));
    await expect(b.transaction(() => Promise.resolve(), { deadlineMs: 100 })).rejects.toBeInstanceOf(NotLeaderError);
    expect(await notes()).toEqual([]);
    open();
    expect(await outcome).toBe('committed');
    await second;
    expect(await notes()).toEqual(['waiting', 'b']);
  });

  it('L1: a transaction of another name keeps nobody from standing for more than half a tick', async () => {
    const leadership = leaderships.on(db.url);
    const a = leadership.candidate('a', LONG);
    const b = leadership.candidate('b', { tickMs: 1_000 });
    await a.acquire();
    const { open, outcome } = await waiting(a);
    expect(await b.acquire()).toBe(false);
    open();
    await outcome;
    expect(await b.acquire()).toBe(true);
  });
});
