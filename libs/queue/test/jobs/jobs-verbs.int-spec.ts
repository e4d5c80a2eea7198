import { executorOf } from '@holdfast/kernel';
import { JobBusyError } from '../../src/errors/job-busy.error.js';
import { PayloadHiddenError } from '../../src/errors/payload-hidden.error.js';
import type { PostgresJobStore } from '../../src/postgres/postgres.job-store.js';
import type { PostgresJobs } from '../../src/postgres/postgres.jobs.js';
import { SCHEMA } from '../store.harness.js';
import { JOB, JobsStand, keyed } from './jobs.stand.js';

const count = (table: string) => `SELECT count(*)::int AS n FROM ${SCHEMA.of(table)}`;

describe('Jobs', () => {
  let stand: JobsStand;
  let jobs: PostgresJobs;
  let store: PostgresJobStore;

  beforeEach(async () => {
    stand = await JobsStand.open();
    jobs = stand.jobs();
    store = stand.store();
  });
  afterEach(() => stand.close());

  const order = () => ({
    fullLook: false,
    kinds: [{ kind: 'demo.job', leaseMs: 60_000, limit: 10 }],
    limit: 10,
    owner: 'test',
    token: crypto.randomUUID(),
  });
  const numberOf = async (table: string) => (await stand.database.adminQuery<{ n: number }>(count(table)))[0]!.n;
  /** asking opens a transaction that asks for a key whose lock another one holds, so that it is a request. */
  const requested = async (changes = {}): Promise<string> => {
    const client = await stand.database.client();
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    const { disposition, id } = await store.enqueue(keyed('k', changes), executorOf(client));
    await client.query('COMMIT');
    expect(disposition).toBe('requested');
    return id;
  };

  describe('runNow', () => {
    it('A1: a job of later is due now, and is claimed at once, also by a process that remembers where the head of the index was', async () => {
      await stand.seed({ state: 'PENDING' });
      expect(await store.claim({ ...order(), fullLook: true })).toHaveLength(1);
      const id = await stand.seed({ dueInS: 3_600, state: 'PENDING' });
      expect(await store.claim(order())).toEqual([]);
      expect(await jobs.runNow(id)).toBe(id);
      expect((await store.claim(order())).map((job) => job.id)).toEqual([id]);
    });

    it('A1: one that waits out a retry or an outage is due now; its attempts stay spent, and the outage counts on', async () => {
      const id = await stand.seed({ attempt: 3, dueInS: 3_600, errorCode: 'mail.down', state: 'PENDING' });
      await stand.database.adminQuery(`UPDATE ${JOB} SET deferred_since = now() - interval '1 hour'`);
      const before = (await jobs.find(id))!;
      await jobs.runNow(id);
      const after = (await jobs.find(id))!;
      expect(after).toEqual({ ...before, dueAt: after.dueAt });
      expect(after.dueAt.getTime()).toBeLessThan(before.dueAt.getTime() - 3_000_000);
    });

    it('A1: one that was due already keeps its moment, and so its turn', async () => {
      const id = await stand.seed({ dueInS: -60, state: 'PENDING' });
      const before = await jobs.find(id);
      await jobs.runNow(id);
      expect(await jobs.find(id)).toEqual(before);
    });

    it('A1: a request that is no job yet is due now', async () => {
      const id = await requested({ dueInMs: 3_600_000 });
      expect(await jobs.runNow(id)).toBe(id);
      await store.intake(10);
      expect(await store.claim({ ...order(), fullLook: true })).toMatchObject([{ id }]);
    });

    it.each(['RUNNING', 'SUCCEEDED', 'FAILED', 'DEAD_LETTER', 'CANCELLED'] as const)(
      'A1: %s is refused',
      async (state) => {
        const id = await stand.seed({ state });
        await expect(jobs.runNow(id)).rejects.toMatchObject({ code: 'queue.job_state', jobId: id, state });
      },
    );

    it('A1: a row that somebody holds is told as busy after two seconds', async () => {
      const id = await stand.seed({ dueInS: 60, state: 'PENDING' });
      const client = await stand.database.client();
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
      await client.query(`SELECT FROM ${JOB} FOR UPDATE`);
      const answers = await Promise.allSettled([jobs.runNow(id), jobs.delete(id)]);
      for (const answer of answers) expect((answer as PromiseRejectedResult).reason).toBeInstanceOf(JobBusyError);
      await client.query('ROLLBACK');
      expect(await jobs.runNow(id)).toBe(id);
    });
  });

  describe('delete', () => {
    it.each(['PENDING', 'SUCCEEDED', 'FAILED', 'DEAD_LETTER', 'CANCELLED'] as const)(
      'A1: removes %s with the ids that led to it and the rows of its runs',
      async (state) => {
        const id = await stand.seed({ state });
        const other = await stand.seed({ state });
        await stand.database.adminQuery(`INSERT INTO holdfast.job_alias VALUES (900, $1), (901, 900), (902, $2)`, [
          id,
          other,
        ]);
        await stand.database.adminQuery(
          `INSERT INTO holdfast.job_renewal SELECT id, gen_random_uuid(), now() FROM ${JOB}`,
        );
        await stand.database.adminQuery(`INSERT INTO holdfast.job_hold SELECT id, gen_random_uuid() FROM ${JOB}`);
        await stand.database.adminQuery(`INSERT INTO holdfast.job_cancel (job_id) SELECT id FROM ${JOB}`);
        expect(await jobs.delete('901')).toBe(id);
        for (const gone of [id, '900', '901']) expect(await jobs.find(gone)).toBeUndefined();
        expect((await jobs.find('902'))!.id).toBe(other);
        for (const table of ['job', 'job_alias', 'job_cancel', 'job_renewal', 'job_hold'])
          expect(await numberOf(table)).toBe(1);
      },
    );

    it('A1: a running job is refused', async () => {
      const id = await stand.seed({ state: 'RUNNING' });
      await expect(jobs.delete(id)).rejects.toMatchObject({
        allowed: ['PENDING', 'SUCCEEDED', 'FAILED', 'DEAD_LETTER', 'CANCELLED'],
        state: 'RUNNING',
      });
      expect(await numberOf('job')).toBe(1);
    });

    it('A1: a request that is no job yet is removed', async () => {
      const id = await requested();
      expect(await jobs.delete(id)).toBe(id);
      expect(await store.intake(10)).toMatchObject({ created: 0 });
      expect(await jobs.find(id)).toBeUndefined();
    });

    it('Q4: a request that no intake has seen makes a job of its own when the job that it named is removed', async () => {
      const [made] = await store.enqueueNow([keyed('k')]);
      const client = await stand.database.client();
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
      const joined = await store.enqueue(keyed('k'), executorOf(client));
      expect(joined).toMatchObject({ disposition: 'existing', id: made!.id });
      expect(await jobs.delete(made!.id)).toBe(made!.id);
      await client.query('COMMIT');
      expect(await store.intake(10)).toMatchObject({ created: 1 });
      expect(await store.claim({ ...order(), fullLook: true })).toHaveLength(1);
    });
  });

  describe('purge', () => {
    it('A1: removes what ended in a state long enough ago, the first to end first, of a kind or tenant, at most the limit', async () => {
      const old: string[] = [];
      for (let i = 0; i < 5; i += 1) old.push(await stand.seed({ finishedAgoS: 1_000 - i, state: 'SUCCEEDED' }));
      const kept = [
        await stand.seed({ finishedAgoS: 10, state: 'SUCCEEDED' }),
        await stand.seed({ finishedAgoS: 1_000, state: 'DEAD_LETTER' }),
        await stand.seed({ state: 'PENDING' }),
        await stand.seed({ state: 'RUNNING' }),
      ];
      const other = await stand.seed({ finishedAgoS: 2_000, kind: 'other.job', state: 'SUCCEEDED', tenantId: 'acme' });
      const filter = { kind: 'demo.job', olderThan: '1m', state: 'SUCCEEDED' } as const;
      expect(await jobs.purge({ ...filter, limit: 2 })).toEqual({ deleted: 2, more: true });
      expect(await left()).toEqual([...old.slice(2), ...kept, other]);
      expect(await jobs.purge(filter)).toEqual({ deleted: 3, more: false });
      expect(await left()).toEqual([...kept, other]);
      expect(await jobs.purge({ olderThan: '0s', state: 'SUCCEEDED', tenantId: 'nobody' })).toEqual({
        deleted: 0,
        more: false,
      });
      expect(await jobs.purge({ olderThan: '0s', state: 'SUCCEEDED', tenantId: 'acme' })).toMatchObject({ deleted: 1 });
      expect(await left()).toEqual(kept);
    });

    it('A1: goes in small transactions, and leaves what somebody holds', async () => {
      await stand.database.adminQuery(
        `INSERT INTO ${JOB} (kind, payload, state, attempt, finished_at) SELECT 'demo.job', '{}', 4, 1, now() - i * interval '1 s' FROM generate_series(1, 700) i`,
      );
      const client = await stand.database.client();
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
      await client.query(`SELECT FROM ${JOB} ORDER BY finished_at LIMIT 3 FOR UPDATE`);
      expect(await jobs.purge({ olderThan: '0s', state: 'DEAD_LETTER' })).toMatchObject({ more: false });
      await client.query('ROLLBACK');
      expect(await numberOf('job')).toBe(3);
    });

    it.each([
      ['state', { olderThan: '1d' }],
      ['state', { olderThan: '1d', state: 'PENDING' }],
      ['olderThan', { state: 'FAILED' }],
      ['olderThan', { olderThan: 'soon', state: 'FAILED' }],
      ['limit', { limit: 10_001, olderThan: '1d', state: 'FAILED' }],
      ['cursor', { cursor: 'x', olderThan: '1d', state: 'FAILED' }],
    ])('A1: refuses a filter that is wrong in %s', async (field, filter) => {
      await expect(jobs.purge(filter as never)).rejects.toMatchObject({ code: 'queue.filter_refused', field });
    });
  });

  describe('payload', () => {
    it('A1: is shown to nobody without a hook', async () => {
      const id = await stand.seed({ state: 'PENDING' });
      await expect(jobs.payload(id)).rejects.toBeInstanceOf(PayloadHiddenError);
    });

    it('A1: is what the hook makes of it, of a job and of a request that is no job yet', async () => {
      const seen: unknown[] = [];
      const shown = stand.jobs({
        redactPayload: (job, payload) => {
          seen.push(job);
          return { ...(payload as object), secret: '***' };
        },
      });
      const id = await stand.seed({ state: 'PENDING', tenantId: 'acme' });
      expect(await shown.payload(id)).toEqual({
        bytes: 25,
        id,
        kind: 'demo.job',
        payload: { n: 1, secret: '***' },
        tooLarge: false,
        version: 1,
      });
      const asked = await requested({ payloadJson: '{"n":2}' });
      expect(await shown.payload(asked)).toMatchObject({ id: asked, payload: { n: 2 } });
      expect(seen).toEqual([
        { id, kind: 'demo.job', tenantId: 'acme', version: 1 },
        { id: asked, kind: 'demo.job', tenantId: null, version: 1 },
      ]);
      await expect(shown.payload('12345')).rejects.toMatchObject({ code: 'queue.job_not_found' });
    });

    it('A1: a hook that throws shows nothing', async () => {
      const id = await stand.seed({ state: 'PENDING' });
      const failing = stand.jobs({
        redactPayload: () => {
          throw new Error('no');
        },
      });
      await expect(failing.payload(id)).rejects.toThrow('no');
    });

    it('K147: of one that is too large, the size alone is shown', async () => {
      const id = await stand.seed({ state: 'PENDING' });
      await stand.database.adminQuery(`UPDATE ${JOB} SET payload = json_build_object('text', repeat('x', 2000000))`);
      const redactPayload = jest.fn();
      const answer = await stand.jobs({ redactPayload }).payload(id);
      expect(answer).toMatchObject({ bytes: 2_000_013, payload: undefined, tooLarge: true });
      expect(redactPayload).not.toHaveBeenCalled();
    });
  });

  const left = async () =>
    (await stand.database.adminQuery<{ id: string }>(`SELECT id::text FROM ${JOB} ORDER BY ${JOB}.id`)).map(
      ({ id }) => id,
    );
});
