import { ControlConnections, NoOpenTransactionError, pgPool, SchemaName, type SqlExecutor } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import { JobQueue } from '../../src/client/job-queue.js';
import { defineJob } from '../../src/domain/definition.js';
import { type } from '../../src/domain/payload.schema.js';
import { PostgresJobStore } from '../../src/postgres/postgres.job-store.js';

const Send = defineJob('mail.send', { payload: type<{ to: string }>() });
const SCHEMA = new SchemaName('holdfast');

/** ToolUnderTest is a library of others, connected, and what the proof needs of it. */
export interface ToolUnderTest<Tx> {
  close(): Promise<unknown>;
  executorOf(tx: Tx): SqlExecutor;
  /** insert writes a row into `note` by a statement of the tool's own. */
  insert(tx: Tx, id: number): Promise<unknown>;
  /** outside answers what is no transaction, by name: each must be refused. */
  outside(): Readonly<Record<string, () => SqlExecutor>>;
  savepoint(tx: Tx, work: (inner: Tx) => Promise<unknown>): Promise<unknown>;
  /** tellsEnd tells whether the executor can see that its transaction has ended. */
  readonly tellsEnd: boolean;
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

/** proveExecutor declares the tests that every executor of a tool of others must pass, against that tool and PostgreSQL. */
export function proveExecutor<Tx>(name: string, open: (db: TestDatabase) => Promise<ToolUnderTest<Tx>>): void {
  let db: TestDatabase;
  let jobs: JobQueue;
  let store: PostgresJobStore;
  let tool: ToolUnderTest<Tx>;

  const kept = async () => ({
    jobs: (
      await db.adminQuery<{ to: string } & object>("SELECT payload ->> 'to' AS to FROM holdfast.job ORDER BY id")
    ).map(({ to }) => to),
    notes: (await db.adminQuery<{ id: number } & object>('SELECT id FROM note ORDER BY id')).map(({ id }) => id),
  });
  /** All three verbs of an enqueue: without a key, with one, and many of both. */
  const enqueueAll = async (tx: Tx, to: string) => {
    const executor = tool.executorOf(tx);
    const plain = await jobs.enqueue(Send, { to: `${to} plain` }, { in: executor });
    const keyed = await jobs.enqueue(Send, { to: `${to} keyed` }, { dedupeKey: to, in: executor });
    const many = await jobs.enqueueMany(
      [
        Send.request({ to: `${to} many 1` }, { priority: 1, runAt: new Date('2030-01-01T00:00:00.000Z') }),
        Send.request({ to: `${to} many?` }, { dedupeKey: to }),
        Send.request({ to: `${to} ?'"\\ $1 ü` }, { maxAttempts: 3, runIn: '5s' }),
        Send.request({ to: `${to} many 4` }, { dedupeKey: `${to} 2` }),
      ],
      { in: executor },
    );
    return { keyed, many, plain };
  };
  const all = (to: string) => [`${to} plain`, `${to} keyed`, ...[`${to} many 1`, `${to} ?'"\\ $1 ü`, `${to} many 4`]];

  describe(name, () => {
    beforeAll(async () => {
      db = await createTestDatabase();
      await db.adminQuery('CREATE TABLE note (id int PRIMARY KEY)');
      tool = await open(db);
      const connect = (max: number) =>
        new ControlConnections({ connectionString: db.url }, { applicationName: 'test', deadlineMs: 30_000, max });
      store = new PostgresJobStore({ connections: connect(1), keeper: connect(1), schema: SCHEMA });
      jobs = new JobQueue({
        database: pgPool(db.pool({ max: 1 })),
        maxAttemptsOf: () => undefined,
        payloadLimitBytes: 1_000,
        store,
        tenancy: false,
      });
    });
    afterEach(() => db.adminQuery('TRUNCATE holdfast.job, holdfast.job_request, note'));
    afterAll(async () => {
      await tool.close();
      await store.close();
      await db.drop();
    });

    it('Q1: jobs commit with its transaction, and its own later statements go on working', async () => {
      const answers = await tool.transaction(async (tx) => {
        await tool.insert(tx, 1);
        const enqueued = await enqueueAll(tx, 'a');
        await tool.insert(tx, 2);
        expect(await kept()).toEqual({ jobs: [], notes: [] });
        return enqueued;
      });
      expect(answers.plain).toMatchObject({ disposition: 'created', id: expect.stringMatching(/^\d+$/) as string });
      expect(answers.many.map(({ disposition }) => disposition)).toEqual(['created', 'existing', 'created', 'created']);
      expect(answers.many[1]).toEqual({ disposition: 'existing', id: answers.keyed.id, payloadDiffers: true });
      const { jobs: payloads, notes } = await kept();
      expect(notes).toEqual([1, 2]);
      expect(payloads.sort()).toEqual(all('a').sort());
      const [due] = await db.adminQuery<{ n: number } & object>(
        "SELECT count(*)::int AS n FROM holdfast.job WHERE due_at = '2030-01-01T00:00:00Z' AND priority = 1",
      );
      expect(due).toEqual({ n: 1 });
    });

    it('Q1: jobs vanish with its rollback', async () => {
      const failing = tool.transaction(async (tx) => {
        await tool.insert(tx, 1);
        await enqueueAll(tx, 'a');
        await tool.insert(tx, 2);
        throw new Error('undo');
      });
      await expect(failing).rejects.toThrow('undo');
      expect(await kept()).toEqual({ jobs: [], notes: [] });
    });

    it('Q1: jobs vanish with a savepoint that is rolled back, and the rest stays', async () => {
      await tool.transaction(async (tx) => {
        await enqueueAll(tx, 'a');
        const inner = tool.savepoint(tx, async (savepoint) => {
          await tool.insert(savepoint, 1);
          await enqueueAll(savepoint, 'inner');
          throw new Error('undo');
        });
        await expect(inner).rejects.toThrow('undo');
        await tool.insert(tx, 2);
        await jobs.enqueue(Send, { to: 'last' }, { in: tool.executorOf(tx) });
      });
      const { jobs: payloads, notes } = await kept();
      expect(notes).toEqual([2]);
      expect(payloads.sort()).toEqual([...all('a'), 'last'].sort());
    });

    it('Q1: what is no open transaction is refused, and what to hand over is said', async () => {
      const refused = Object.entries(tool.outside());
      expect(refused.length).toBeGreaterThan(0);
      for (const [what, make] of refused) {
        expect([what, caught(make)]).toEqual([what, expect.any(NoOpenTransactionError)]);
        expect(make).toThrow(/Hand over/);
      }
    });

    it('Q1: after the end of its transaction nothing is written', async () => {
      const late = await tool.transaction(async (tx) => {
        const executor = tool.executorOf(tx);
        await jobs.enqueue(Send, { to: 'a' }, { in: executor });
        return { executor };
      });
      if (tool.tellsEnd) await expect(jobs.enqueue(Send, { to: 'late' }, { in: late.executor })).rejects.toThrow();
      expect((await kept()).jobs).toEqual(['a']);
    });

    it('values arrive as they are: arrays with nulls, numbers, json, moments and a question mark', async () => {
      const [row] = await tool.transaction(async (tx) => {
        const answer = await tool.executorOf(tx).query<object>(
          `SELECT $1::text[] AS texts, $2::bigint[]::text[] AS numbers, $3::json ->> 'a' AS json, $4::timestamptz IS NULL AS none,
              $5::bigint::text AS big, ('{"a":1}'::jsonb ? $6::text) AS has, $7::boolean[] AS flags, $8::smallint::int AS small, '?' AS mark`,
          [['a', null, 'b,"{c'], [1, null, 3], '{"a":"x"}', null, '9007199254740993', 'a', [true, false], 3],
        );
        expect(answer.rowCount).toBe(1);
        return answer.rows;
      });
      expect(row).toEqual({
        big: '9007199254740993',
        flags: [true, false],
        has: true,
        json: 'x',
        mark: '?',
        none: true,
        numbers: ['1', null, '3'],
        small: 3,
        texts: ['a', null, 'b,"{c'],
      });
    });
  });
}

function caught(make: () => unknown): unknown {
  try {
    return make();
  } catch (error) {
    return error;
  }
}
