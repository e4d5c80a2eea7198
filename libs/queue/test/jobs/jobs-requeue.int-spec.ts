import { executorOf } from '@holdfast/kernel';
import { waitFor } from '@holdfast/testing';
import { JobBusyError } from '../../src/errors/job-busy.error.js';
import { JobNotFoundError } from '../../src/errors/job-not-found.error.js';
import { JobStateError } from '../../src/errors/job-state.error.js';
import { KeyTakenError } from '../../src/errors/key-taken.error.js';
import type { PostgresJobStore } from '../../src/postgres/postgres.job-store.js';
import type { PostgresJobs } from '../../src/postgres/postgres.jobs.js';
import { JOB, JobsStand, keyed } from './jobs.stand.js';

const FINAL = ['FAILED', 'DEAD_LETTER', 'CANCELLED'] as const;

describe('Jobs.requeue', () => {
  let stand: JobsStand;
  let jobs: PostgresJobs;
  let store: PostgresJobStore;

  beforeEach(async () => {
    stand = await JobsStand.open();
    jobs = stand.jobs();
    store = stand.store();
  });
  afterEach(() => stand.close());

  it.each(FINAL)('A1: %s is pending again, due now, with all its attempts and without its error', async (state) => {
    const id = await stand.seed({ attempt: 8, dueInS: 3_600, errorCode: 'mail.down', state });
    await stand.database.adminQuery(
      `UPDATE ${JOB} SET outcome = 'x.y', losses = 2, deferred_since = now(), refusal = '{"code":"a.b","params":null}',
         failures = '[{"at":"2026-01-01T00:00:00Z","attempt":8,"code":"mail.down"}]'`,
    );
    expect(await jobs.requeue(id)).toBe(id);
    const job = (await jobs.find(id))!;
    expect(job).toMatchObject({
      attempt: 0,
      deferredSince: null,
      errorCode: null,
      finishedAt: null,
      outcome: null,
      refusal: null,
      state: 'PENDING',
    });
    // What happened before stays to be seen.
    expect(job.failures).toMatchObject([{ attempt: 8, code: 'mail.down' }]);
    expect(job.dueAt.getTime()).toBeLessThan(job.createdAt.getTime() + 600_000);
    const claimed = await store.claim(order());
    expect(claimed).toMatchObject([{ attempt: 1, id, suspect: false }]);
  });

  it('A1, R16: a job that was cancelled is requeued, and what asked for its end does not end its next life', async () => {
    const cancelled = await stand.seed({ state: 'PENDING' });
    expect(await jobs.cancel(cancelled)).toMatchObject({ disposition: 'cancelled' });
    const dead = await stand.seed({ state: 'DEAD_LETTER' });
    await stand.database.adminQuery(`INSERT INTO holdfast.job_cancel (job_id) SELECT id FROM ${JOB}`);
    await jobs.requeueMany([cancelled, dead]);
    expect((await store.reap(['demo.job'], 10)).cancelled).toEqual([]);
    for (const id of [cancelled, dead])
      expect(await jobs.find(id)).toMatchObject({ cancelRequestedAt: null, state: 'PENDING' });
  });

  it.each(['PENDING', 'RUNNING', 'SUCCEEDED'] as const)('A1: %s is refused and stays as it is', async (state) => {
    const id = await stand.seed({ state });
    const before = await jobs.find(id);
    const error = await jobs.requeue(id).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(JobStateError);
    expect(error).toMatchObject({ allowed: [...FINAL], code: 'queue.job_state', jobId: id, state });
    expect(await jobs.find(id)).toEqual(before);
  });

  it.each(['123', '0', 'x', '99999999999999999999', "1'; DROP"])('A1: there is no job %s', async (id) => {
    for (const verb of ['requeue', 'runNow', 'delete'] as const)
      await expect(jobs[verb](id)).rejects.toMatchObject({ code: 'queue.job_not_found', jobId: id });
    await expect(jobs.requeue(id)).rejects.toBeInstanceOf(JobNotFoundError);
  });

  it('A1: the id of a request that joined a job requeues the job', async () => {
    const first = await stand.database.pool().connect();
    await first.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    const [made] = [await store.enqueue(keyed('k'), executorOf(first))];
    const asked = await store.enqueueNow([keyed('k')]);
    await first.query('COMMIT');
    first.release();
    await store.intake(10);
    expect(asked[0]!.disposition).toBe('requested');
    await stand.database.adminQuery(`UPDATE ${JOB} SET state = 4, finished_at = now()`);
    expect(await jobs.requeue(asked[0]!.id)).toBe(made.id);
  });

  it('A1, Q4: is refused with the live job of its key, pending or running, of its tenant and kind alone', async () => {
    const dead = await stand.seed({ dedupeKey: 'k', state: 'DEAD_LETTER' });
    await stand.seed({ dedupeKey: 'k', state: 'PENDING', tenantId: 'acme' });
    await stand.seed({ dedupeKey: 'k', kind: 'other.job', state: 'PENDING' });
    await stand.seed({ dedupeKey: 'k', state: 'SUCCEEDED' });
    const live = await stand.seed({ dedupeKey: 'k', state: 'PENDING' });
    for (const state of [0, 1]) {
      if (state === 1) await store.claim(order());
      const error = await jobs.requeue(dead).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(KeyTakenError);
      expect(error).toMatchObject({ code: 'queue.key_taken', jobId: dead, liveJobId: live });
      expect((await jobs.find(dead))!.state).toBe('DEAD_LETTER');
    }
    await stand.database.adminQuery(`DELETE FROM ${JOB} WHERE id = $1`, [live]);
    expect(await jobs.requeue(dead)).toBe(dead);
  });

  it('A1: several are told each by itself, in the order in which they were asked for', async () => {
    const dead = await stand.seed({ state: 'DEAD_LETTER' });
    const done = await stand.seed({ state: 'SUCCEEDED' });
    const one = await stand.seed({ dedupeKey: 'k', state: 'FAILED' });
    const two = await stand.seed({ dedupeKey: 'k', state: 'FAILED' });
    expect(await jobs.requeueMany([two, '77777', done, 'x', one, dead, dead])).toEqual([
      { asked: two, disposition: 'key_taken', id: two, liveJobId: one },
      { asked: '77777', disposition: 'not_found' },
      { asked: done, disposition: 'wrong_state', id: done, state: 'SUCCEEDED' },
      { asked: 'x', disposition: 'not_found' },
      { asked: one, disposition: 'requeued', id: one },
      { asked: dead, disposition: 'requeued', id: dead },
      { asked: dead, disposition: 'requeued', id: dead },
    ]);
    await expect(jobs.requeueMany(Array.from({ length: 1_001 }, () => '1'))).rejects.toMatchObject({ field: 'ids' });
  });

  it('A1: a filter requeues in bounded parts to the end, and tells once what it could not', async () => {
    const wanted: string[] = [];
    for (let i = 0; i < 25; i += 1) wanted.push(await stand.seed({ errorCode: 'mail.down', state: 'DEAD_LETTER' }));
    const taken = await stand.seed({ dedupeKey: 'k', errorCode: 'mail.down', state: 'DEAD_LETTER' });
    const live = await stand.seed({ dedupeKey: 'k', dueInS: 60, state: 'PENDING' });
    await stand.seed({ errorCode: 'other.code', state: 'DEAD_LETTER' });
    await stand.seed({ errorCode: 'mail.down', kind: 'other.job', state: 'DEAD_LETTER' });
    await stand.seed({ errorCode: 'mail.down', state: 'FAILED' });
    const requeued: string[] = [];
    const refused: unknown[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const result = await jobs.requeueMatching({
        cursor,
        errorCode: 'mail.down',
        kind: 'demo.job',
        limit: 10,
        state: 'DEAD_LETTER',
      });
      expect(result.requeued.length + result.refused.length).toBeLessThanOrEqual(10);
      requeued.push(...result.requeued);
      refused.push(...result.refused);
      ({ cursor } = result);
    }
    expect(requeued.sort()).toEqual([...wanted].sort());
    expect(refused).toEqual([{ asked: taken, disposition: 'key_taken', id: taken, liveJobId: live }]);
    await expect(jobs.requeueMatching({ state: 'SUCCEEDED' as never })).rejects.toMatchObject({ field: 'state' });
  });

  it('A1: joins no transaction: what is requeued inside a unit of work that rolls back is requeued', async () => {
    const id = await stand.seed({ state: 'DEAD_LETTER' });
    const client = await stand.database.client();
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    await jobs.requeue(id);
    await client.query('ROLLBACK');
    expect((await jobs.find(id))!.state).toBe('PENDING');
  });

  describe('Q4: requeue against enqueue of the same key', () => {
    it('an enqueue that is not committed holds the key: requeue waits for it, holding nothing, and then names its job', async () => {
      const dead = await stand.seed({ dedupeKey: 'k', state: 'DEAD_LETTER' });
      const client = await stand.database.client();
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
      const made = await store.enqueue(keyed('k'), executorOf(client));
      expect(made.disposition).toBe('created');
      const requeued = jobs.requeue(dead).catch((reason: unknown) => reason);
      await waitFor(() => asked(), { what: 'the requeue to have been tried' });
      await client.query('COMMIT');
      expect(await requeued).toMatchObject({ code: 'queue.key_taken', liveJobId: made.id });
    });

    it('an enqueue that is rolled back leaves the key to the requeue', async () => {
      const dead = await stand.seed({ dedupeKey: 'k', state: 'DEAD_LETTER' });
      const client = await stand.database.client();
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
      await store.enqueue(keyed('k'), executorOf(client));
      const requeued = jobs.requeue(dead);
      await waitFor(() => asked(), { what: 'the requeue to have been tried' });
      await client.query('ROLLBACK');
      expect(await requeued).toBe(dead);
    });

    it('one that stays open is told within two seconds and a little, with nothing changed', async () => {
      const dead = await stand.seed({ dedupeKey: 'k', state: 'DEAD_LETTER' });
      const client = await stand.database.client();
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
      await store.enqueue(keyed('k'), executorOf(client));
      await expect(jobs.requeue(dead)).rejects.toBeInstanceOf(JobBusyError);
      expect(await jobs.requeueMany([dead])).toEqual([{ asked: dead, disposition: 'busy', id: dead }]);
      await client.query('ROLLBACK');
      expect((await jobs.find(dead))!.state).toBe('DEAD_LETTER');
    });

    it('a requeue that is not committed yet keeps nobody waiting: the enqueue is appended, and joins the job', async () => {
      const dead = await stand.seed({ dedupeKey: 'k', dueInS: 60, state: 'DEAD_LETTER' });
      const operator = await stand.database.client();
      await operator.query('BEGIN ISOLATION LEVEL READ COMMITTED');
      await operator.query(`SELECT * FROM holdfast.requeue_jobs(ARRAY[$1::bigint])`, [dead]);
      const client = await stand.database.client();
      await client.query(`SET lock_timeout = '200ms'`);
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
      const answer = await store.enqueue(keyed('k'), executorOf(client));
      expect(answer.disposition).toBe('requested');
      await client.query('COMMIT');
      expect(await store.intake(10)).toMatchObject({ created: 0 });
      await operator.query('COMMIT');
      expect(await store.intake(10)).toMatchObject({ created: 0, merged: 1 });
      expect((await jobs.find(answer.id))!.id).toBe(dead);
    });

    it('storms of both leave one live job of each key, no error, and each enqueue a job that can be found', async () => {
      const dead: string[] = [];
      for (let key = 0; key < 10; key += 1)
        for (let i = 0; i < 4; i += 1) dead.push(await stand.seed({ dedupeKey: `k${key}`, state: 'DEAD_LETTER' }));
      const others = [stand.store(), stand.store()];
      const operators = [jobs, stand.jobs()];
      const rounds = Array.from({ length: 6 }, (_, round) => round);
      const answers = await Promise.all([
        ...rounds.map((round) => operators[round % 2]!.requeueMany(round % 2 ? dead : [...dead].reverse())),
        ...rounds.map(async (round) => {
          const made = others[round % 2]!.enqueueNow(Array.from({ length: 10 }, (_, key) => keyed(`k${key}`)));
          await others[(round + 1) % 2]!.intake(100);
          return (await made).map(({ id }) => id);
        }),
      ]);
      while ((await store.intake(100)).more);
      await store.intake(100);
      const live = await stand.database.adminQuery<{ n: number }>(
        `SELECT count(*)::int AS n FROM ${JOB} WHERE state = 0 GROUP BY dedupe_key`,
      );
      expect(live.map(({ n }) => n)).toEqual(Array.from({ length: 10 }, () => 1));
      for (const answer of answers.flat()) {
        if (typeof answer === 'string') expect(await jobs.find(answer)).toBeDefined();
        else expect(['requeued', 'key_taken', 'wrong_state']).toContain(answer.disposition);
      }
    });
  });

  it('A1: of two requeues of one job at once, one requeues it and the other finds it pending', async () => {
    const other = stand.jobs();
    for (let round = 0; round < 20; round += 1) {
      const id = await stand.seed({ ...(round % 2 ? { dedupeKey: `r${round}` } : {}), state: 'FAILED' });
      const answers = await Promise.allSettled([jobs.requeue(id), other.requeue(id)]);
      expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const refused = answers.find((answer): answer is PromiseRejectedResult => answer.status === 'rejected');
      expect(refused!.reason).toMatchObject({ code: 'queue.job_state', state: 'PENDING' });
    }
  });

  /** asked tells whether an operator's connection has come and gone at least once: the first try has been answered as busy. */
  const asked = async () => {
    const rows = await stand.database.adminQuery<{ n: number }>(
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'operator' AND state = 'idle' AND query LIKE '%requeue_jobs%'
         AND datname = current_database()`,
    );
    return rows[0]!.n > 0;
  };
  const order = () => ({
    fullLook: true,
    kinds: [{ kind: 'demo.job', leaseMs: 60_000, limit: 1 }],
    limit: 1,
    owner: 'test',
    token: crypto.randomUUID(),
  });
});
