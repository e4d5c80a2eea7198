import 'reflect-metadata';
import type { Client } from 'pg';
import { executorOf } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import type { WhenRunning } from '../../src/domain/request.js';
import type { PostgresJobStore } from '../../src/postgres/postgres.job-store.js';
import { failure, order, request } from '../../src/testing/job-store.harness.js';
import { postgresStore, SCHEMA } from '../store.harness.js';
import { LockWatch } from './lock.watch.js';

const CALLERS = 50;
const ROUNDS = 3;
const OPEN_MS = 20;
const ENQUEUER = 'enqueuer';
/** Far less than a test's time and far more than a healthy enqueue: a caller that waits for the end of another one's transaction ends by it. */
const LOCK_TIMEOUT_MS = 1_000;

/**
 * Q7, counted. In each state two things are tried. First all callers meet in the middle: nobody commits before all have enqueued, so that a caller
 * that waits for another one's transaction waits for ever, whatever the speed of the machine. Then they run freely, open for 20 ms each, while a
 * worker takes the key in, claims it and finishes it without a pause.
 */
describe('writers of one key', () => {
  let database: TestDatabase;
  let store: PostgresJobStore;
  let callers: Client[];
  let watch: LockWatch;

  beforeEach(async () => {
    database = await createTestDatabase();
    store = postgresStore(database);
    callers = await Promise.all(
      Array.from({ length: CALLERS }, async () => {
        const client = await database.client();
        await client.query(`SET application_name = '${ENQUEUER}'; SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
        return client;
      }),
    );
    watch = new LockWatch(await database.client(), ENQUEUER).start();
  });
  afterEach(async () => {
    await watch.stop();
    await store.close();
    await database.drop();
  });

  const asked = (whenRunning: WhenRunning) => request({ dedupeKey: 'the key', whenRunning });
  const enqueue = (client: Client, whenRunning: WhenRunning) => store.enqueue(asked(whenRunning), executorOf(client));
  const timedOut = (results: PromiseSettledResult<unknown>[]) => {
    for (const result of results)
      if (result.status === 'rejected' && (result.reason as { code?: string }).code !== '55P03') throw result.reason;
    return results.filter(({ status }) => status === 'rejected').length;
  };

  /** meet has all callers enqueue before one of them ends; a third of them rolls back. Answers how many ended by the lock timeout. */
  const meet = async (whenRunning: WhenRunning): Promise<number> => {
    const enqueued = await Promise.allSettled(
      callers.map(async (client) => {
        await client.query('BEGIN');
        await enqueue(client, whenRunning);
      }),
    );
    await Promise.all(callers.map((client, i) => client.query(i % 3 === 2 ? 'ROLLBACK' : 'COMMIT')));
    return timedOut(enqueued);
  };

  /** runFreely has each caller enqueue early in a transaction that stays open, a few times, while the worker works. */
  const runFreely = async (whenRunning: WhenRunning, worker?: () => Promise<unknown>): Promise<number> => {
    let calling = true;
    const working = (async () => {
      while (calling && worker) await worker();
    })();
    const results = await Promise.allSettled(
      callers.map(async (client) => {
        for (let round = 0; round < ROUNDS; round += 1) {
          await client.query('BEGIN');
          await enqueue(client, whenRunning);
          await client.query(`SELECT pg_sleep(${OPEN_MS / 1_000})`);
          await client.query('COMMIT');
        }
      }),
    );
    calling = false;
    await working;
    return timedOut(results);
  };

  const finish = async () => {
    const [job] = await store.claim(order({ limit: 1 }));
    if (job) await store.settle([{ lease: job.lease, settlement: { outcome: null, verb: 'complete' } }]);
  };
  const takeInAndFinish = async () => {
    await store.intake(1_000);
    await finish();
  };
  const noWaits = async (timeouts: number) => {
    expect({ timeouts, waits: await watch.stop() }).toEqual({ timeouts: 0, waits: [] });
    expect(watch.samples).toBeGreaterThan(10);
  };

  it('Q7: no enqueuing backend waits for a lock: no job', async () => {
    let timeouts = await meet('merge');
    await database.adminQuery(`TRUNCATE ${SCHEMA.of('job')}, ${SCHEMA.of('job_request')}`);
    timeouts += await runFreely('merge');
    await noWaits(timeouts);
  });

  it('Q7: no enqueuing backend waits for a lock: a pending job', async () => {
    await store.enqueueNow([request({ dedupeKey: 'the key', dueInMs: 3_600_000 })]);
    let timeouts = await meet('merge');
    timeouts += await runFreely('merge', () => store.intake(1_000));
    await noWaits(timeouts);
    await store.intake(1_000);
    expect(await store.depth([])).toMatchObject([{ due: 1 }]);
  });

  it.each(['merge', 'rerun'] as const)(
    'Q7: no enqueuing backend waits for a lock: a worker that finishes the key continuously (%s)',
    async (whenRunning) => {
      await store.enqueueNow([asked(whenRunning)]);
      const worker = await database.client();
      let timeouts = 0;
      // Each step of a worker is met while it is under way: its transaction has written and is not committed.
      const underWay: ((job: { id: string; token: string }) => string)[] = [
        () => `SELECT * FROM ${SCHEMA.of('intake_requests')}(1000)`,
        ({ id, token }) =>
          `SELECT set_config('holdfast.run', '${token}', true), ${SCHEMA.of('complete_run')}(${id}, '${token}', NULL)`,
        ({ id, token }) =>
          `SELECT set_config('holdfast.run', '${token}', true), ${SCHEMA.of('repeat_run')}(${id}, '${token}', 0, NULL)`,
        ({ id }) =>
          `UPDATE ${SCHEMA.of('job')} SET state = 4, finished_at = now(), lease_token = NULL, lease_owner = NULL, lease_until = NULL WHERE id = ${id}`,
      ];
      for (const step of underWay) {
        await takeInUntilClaimable();
        const [job] = await store.claim(order({ limit: 1 }));
        await worker.query('BEGIN');
        await worker.query(step({ id: job!.id, token: job!.lease.token }));
        timeouts += await meet(whenRunning);
        await worker.query('COMMIT');
        await store.settle([{ lease: job!.lease, settlement: { failure: failure(), verb: 'bury' } }]);
      }
      timeouts += await runFreely(whenRunning, takeInAndFinish);
      await noWaits(timeouts);
    },
  );

  it('Q7: the count sees writers that wait: with a unique index and ON CONFLICT all but one of them do', async () => {
    const [made] = await database.adminQuery<{ text: string }>(
      `SELECT pg_get_functiondef('${SCHEMA.of('enqueue_keyed')}'::regproc) AS text`,
    );
    await database.adminQuery(
      made!.text.replace(
        /\nBEGIN[^]*\nEND\n/,
        `
BEGIN
  INSERT INTO ${SCHEMA.of('job')} AS j (kind, dedupe_key, payload) VALUES (p_kind, p_dedupe_key, p_payload) ON CONFLICT DO NOTHING RETURNING j.id INTO id;
  id := coalesce(id, 0);
  disposition := 'created';
  payload_differs := false;
END
`,
      ),
    );
    const timeouts = await meet('merge');
    expect(timeouts).toBe(CALLERS - 1);
    expect(new Set((await watch.stop()).map(({ pid }) => pid)).size).toBe(CALLERS - 1);
  });

  async function takeInUntilClaimable(): Promise<void> {
    await store.intake(1_000);
    if ((await store.depth([]))[0]?.due) return;
    await store.enqueueNow([asked('rerun')]);
    await store.intake(1_000);
  }
});
