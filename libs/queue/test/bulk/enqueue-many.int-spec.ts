import { pgPool } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import type { Client } from 'pg';
import { JobQueue } from '../../src/client/job-queue.js';
import { defineJob } from '../../src/domain/definition.js';
import { type } from '../../src/domain/payload.schema.js';
import { BatchTooLargeError } from '../../src/errors/batch-too-large.error.js';
import type { Enqueued } from '../../src/domain/request.js';
import type { PostgresJobStore } from '../../src/postgres/postgres.job-store.js';
import { postgresStore } from '../store.harness.js';
import { bulkRequests, type BulkRequest } from './bulk.requests.js';
import { WireCounter } from './wire.counter.js';

const MANY = 10_000;
const LOCKS_PER_TRANSACTION = 16;
const ISOLATIONS = ['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'] as const;

interface MadeJob {
  readonly due_in_ms: number;
  readonly id: string;
  readonly max_attempts: number | null;
  readonly n: number;
  readonly priority: number;
}

describe('thousands of requests at once', () => {
  let database: TestDatabase;
  let jobs: JobQueue;
  let store: PostgresJobStore;

  beforeEach(async () => {
    database = await createTestDatabase();
    store = postgresStore(database);
    jobs = new JobQueue({
      database: pgPool(database.pool({ max: 2 })),
      maxAttemptsOf: () => undefined,
      payloadLimitBytes: 2_000_000,
      store,
      tenancy: true,
    });
  });
  afterEach(async () => {
    await store.close();
    await database.drop();
  });

  const count = async (table: 'job' | 'job_request'): Promise<number> =>
    (await database.adminQuery(`SELECT FROM holdfast.${table}`)).length;
  const counting = async (): Promise<{ client: Client; wire: WireCounter }> => {
    const client = await database.client();
    return { client, wire: new WireCounter(client) };
  };
  const takeIn = async () => {
    while ((await store.intake(1_000)).more);
  };
  const jobsByAnswer = async (ids: readonly string[]): Promise<Map<string, MadeJob>> => {
    const rows = await database.adminQuery<MadeJob & { asked: string } & Record<string, unknown>>(
      `SELECT asked::text, j.id::text, (j.payload ->> 'n')::int AS n, j.priority, j.max_attempts,
           (extract(epoch FROM j.due_at - clock_timestamp()) * 1000)::float8 AS due_in_ms
         FROM unnest($1::bigint[]) asked LEFT JOIN holdfast.job_alias a ON a.request_id = asked
           JOIN holdfast.job j ON j.id = coalesce(a.job_id, asked)`,
      [ids],
    );
    return new Map(rows.map((row) => [row.asked, row]));
  };
  /** Every answer leads to the job of its request: of its own, or of the first one that asked for its key. */
  const expectCovered = async (batch: readonly BulkRequest[], answers: readonly Enqueued[]) => {
    const made = await jobsByAnswer([...new Set(answers.map(({ id }) => id))]);
    const first = new Map<string, BulkRequest>();
    for (const one of batch) if (one.key !== null && !first.has(one.key)) first.set(one.key, one);
    const wrong = batch.filter(({ key, n, request }, at) => {
      const job = made.get(answers[at]!.id);
      const owner = key === null ? undefined : first.get(key);
      const { options } = owner?.request ?? request;
      const { maxAttempts = request.definition.maxAttempts } = options;
      return (
        job?.n !== (owner?.n ?? n) ||
        job.priority !== (options.priority ?? request.definition.priority) ||
        job.max_attempts !== (maxAttempts === 'unlimited' ? null : maxAttempts) ||
        // Never later than asked, by whichever of a key's requests (Q5).
        (request.options.runIn === undefined && request.options.runAt === undefined && job.due_in_ms > 0) ||
        (request.options.runIn !== undefined && job.due_in_ms > 3_600_000) ||
        (key === null && request.options.runIn !== undefined && job.due_in_ms <= 0)
      );
    });
    expect(wrong).toEqual([]);
    const keys = new Set(batch.flatMap(({ key }) => key ?? []));
    expect(new Set([...made.values()].map(({ id }) => id)).size).toBe(
      batch.filter(({ key }) => key === null).length + keys.size,
    );
  };

  it.each(ISOLATIONS)(
    'Q8: 10,000 of every sort, with keys that come twice, are two statements: an answer for each, in order (%s)',
    async (isolation) => {
      const batch = bulkRequests(MANY);
      const { client, wire } = await counting();
      await client.query(`BEGIN ISOLATION LEVEL ${isolation}`);
      const before = wire.statements;
      const answers = await jobs.enqueueMany(
        batch.map(({ request }) => request),
        { in: client },
      );
      expect(wire.statements - before).toBe(2);
      expect(await count('job')).toBe(0);
      await client.query('COMMIT');
      expect(answers).toHaveLength(MANY);
      const plain = answers.filter((_, at) => batch[at]!.key === null);
      expect(plain.every(({ disposition }) => disposition === 'created')).toBe(true);
      expect(plain.map(({ id }) => BigInt(id))).toEqual(
        plain.map(({ id }) => BigInt(id)).sort((a, b) => (a < b ? -1 : 1)),
      );
      const keyed = answers.filter((_, at) => batch[at]!.key !== null);
      const created = keyed.filter(({ disposition }) => disposition === 'created').length;
      expect(created).toBe(isolation === 'READ COMMITTED' ? LOCKS_PER_TRANSACTION : 0);
      await takeIn();
      expect(await count('job_request')).toBe(0);
      await expectCovered(batch, answers);
    },
  );

  it.each([1, 2, 100, 5_000])('Q8: %p requests with a key and as many without are two statements', async (size) => {
    const { client, wire } = await counting();
    await client.query('BEGIN');
    const before = wire.statements;
    await jobs.enqueueMany(
      bulkRequests(2 * size).map(({ request }) => request),
      { in: client },
    );
    expect(wire.statements - before).toBe(2);
    await client.query('ROLLBACK');
  });

  it.each(ISOLATIONS)(
    'Q8, Q4: two batches of the same keys in opposite order, open at once, wait for nothing and fail at nothing (%s)',
    async (isolation) => {
      const batch = bulkRequests(2_000);
      const orders = [batch, [...batch].reverse()];
      const callers = await Promise.all(orders.map(() => counting()));
      for (const { client } of callers)
        await client.query(`BEGIN ISOLATION LEVEL ${isolation}; SET lock_timeout = '250ms'`);
      const sent = callers.map(({ client }, at) =>
        jobs.enqueueMany(
          orders[at]!.map(({ request }) => request),
          { in: client },
        ),
      );
      const answers = await Promise.all(sent);
      for (const { client } of callers) await client.query('COMMIT');
      await takeIn();
      const keys = new Set(batch.flatMap(({ key }) => key ?? []));
      expect(await count('job')).toBe(2 * batch.filter(({ key }) => key === null).length + keys.size);
      const made = await jobsByAnswer([...new Set(answers.flat().map(({ id }) => id))]);
      expect(answers.flat().filter(({ id }) => !made.has(id))).toEqual([]);
    },
  );

  it.each(['own', 'caller'] as const)(
    'Q8: what the server refuses of a batch leaves nothing of it, in a transaction of its own and in the caller’s (%s)',
    async (whose) => {
      await database.adminQuery(`CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON holdfast.job_request FOR EACH ROW EXECUTE FUNCTION public.refuse()`);
      const { client } = await counting();
      await client.query('BEGIN');
      const requests = bulkRequests(300).map(({ request }) => request);
      await expect(jobs.enqueueMany(requests, { in: whose === 'own' ? 'own' : client })).rejects.toThrow('no');
      await client.query('COMMIT');
      expect(await count('job')).toBe(0);
    },
  );

  it('Q8: one that is refused among thousands is named by its index, and nothing is sent', async () => {
    const { client, wire } = await counting();
    await client.query('BEGIN');
    const requests = bulkRequests(5_000).map(({ request }) => request);
    requests[4_321] = requests[0]!.definition.request({ n: 1n as unknown as number });
    const before = wire.statements;
    await expect(jobs.enqueueMany(requests, { in: client })).rejects.toMatchObject({
      index: 4_321,
      message: expect.stringContaining('Request 4321') as string,
      path: 'payload.n',
    });
    expect(wire.statements).toBe(before);
    await client.query('COMMIT');
  });

  it('Q8: a batch is 64 MiB at most; the first request beyond is named, and the transaction is still usable', async () => {
    const Large = defineJob('bulk.large', { payload: type<{ text: string }>() });
    const large = Array.from({ length: 34 }, () => Large.request({ text: 'x'.repeat(1_999_989) }));
    const { client, wire } = await counting();
    await client.query('BEGIN');
    const before = wire.statements;
    const refused: unknown = await jobs.enqueueMany(large, { in: client }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(BatchTooLargeError);
    expect(refused).toMatchObject({ code: 'queue.batch_too_large', index: 33, limitBytes: 67_108_864 });
    expect(wire.statements).toBe(before);
    await jobs.enqueueMany(large.slice(1), { in: client });
    await client.query('COMMIT');
    expect(await count('job')).toBe(33);
  });
});
