import { randomUUID } from 'node:crypto';
import type { BeginOptions, IsolationLevel, OpenTransaction } from '@holdfast/kernel';
import type { EncodedRequest, Enqueued } from '../domain/request.js';
import { order, request, StoreActor, type JobStoreHarness } from './job-store.harness.js';

const ISOLATIONS: readonly IsolationLevel[] = ['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'];

/** transactionContract is how jobs join the application's transactions. */
export function transactionContract(harness: () => JobStoreHarness): void {
  const actor = new StoreActor(harness);
  const application = () => harness().application!;
  const begin = (options?: BeginOptions) => application().begin(options);
  const enqueue = (open: OpenTransaction, changes: Partial<EncodedRequest> = {}): Promise<Enqueued> =>
    actor.store.enqueue(request(changes), application().executor(open.transaction));
  const sql = (open: OpenTransaction, text: string) => open.transaction.sql.query(text);
  const dedupeKey = 'key';

  describe('transaction', () => {
    it.each([null, dedupeKey])(
      'Q1: a job commits or vanishes with its caller, savepoints included (key %p)',
      async (key) => {
        const open = await begin();
        await sql(open, 'SAVEPOINT one');
        await enqueue(open, { dedupeKey: key, payloadJson: '{"n":1}' });
        await sql(open, 'ROLLBACK TO SAVEPOINT one');
        await enqueue(open, { dedupeKey: key, payloadJson: '{"n":2}' });
        await sql(open, 'SAVEPOINT two');
        await enqueue(open, { dedupeKey: key && `${key}2`, payloadJson: '{"n":3}' });
        await sql(open, 'RELEASE SAVEPOINT two');
        expect(await actor.store.claim(order())).toEqual([]);
        await open.commit();
        const rolledBack = await begin();
        await enqueue(rolledBack, { dedupeKey: key && `${key}3` });
        await rolledBack.rollback();
        await actor.intake();
        const payloads = (await harness().inspect()).map(({ payload }) => payload);
        expect(payloads).toEqual([{ n: 2 }, { n: 3 }]);
      },
    );

    it.each(ISOLATIONS)('Q4: every caller gets an answer that can be polled (%s)', async (isolation) => {
      const [first, second] = [await begin({ isolation }), await begin({ isolation })];
      const answers = [
        await enqueue(first, { dedupeKey }),
        await enqueue(first, { dedupeKey, payloadJson: '{"n":2}' }),
        await enqueue(second, { dedupeKey, payloadJson: '{"n":3}' }),
      ];
      const expected =
        isolation === 'READ COMMITTED' ? ['created', 'existing', 'requested'] : ['requested', 'requested', 'requested'];
      expect(answers.map(({ disposition }) => disposition)).toEqual(expected);
      await second.commit();
      await first.commit();
      await actor.intake();
      const { id } = await actor.only();
      for (const answer of answers) expect(await application().resolve(answer.id)).toBe(id);
      expect(await application().requests()).toBe(0);
    });

    it.each(ISOLATIONS)(
      'Q4: a committed live job is named where it can be seen without risk (%s)',
      async (isolation) => {
        const [job] = await actor.add({ dedupeKey });
        const open = await begin({ isolation });
        await sql(open, 'SELECT 1');
        const answer = await enqueue(open, { dedupeKey });
        if (isolation === 'SERIALIZABLE') expect(answer.disposition).toBe('requested');
        else expect(answer).toEqual({ disposition: 'existing', id: job!.id, payloadDiffers: false });
        await open.commit();
        await actor.intake();
        expect(await application().resolve(answer.id)).toBe(job!.id);
      },
    );

    it.each(ISOLATIONS)(
      'Q4: fifty callers at once on one key, half of which roll back: no error reaches one, and their work is covered (%s)',
      async (isolation) => {
        const runOne = async (i: number) => {
          const open = await begin({ acquireTimeoutMs: 30_000, isolation });
          const answer = await enqueue(open, { dedupeKey: `${dedupeKey}${i % 2}` });
          await application().effect(open.transaction, String(i));
          if (i % 3 === 0) await open.rollback();
          else await open.commit();
          return answer;
        };
        const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => runOne(i)));
        expect(answers).toHaveLength(50);
        await actor.intake();
        expect(await application().requests()).toBe(0);
        const jobs = await harness().inspect();
        expect(jobs).toHaveLength(2);
        for (const [i, { id }] of answers.entries())
          if (i % 3 !== 0) expect(jobs.map((job) => job.id)).toContain(await application().resolve(id));
      },
    );

    it('Q4: the request that met an uncommitted job outlives its rollback', async () => {
      const [first, second] = [await begin(), await begin()];
      expect(await enqueue(first, { dedupeKey })).toMatchObject({ disposition: 'created' });
      const asked = await enqueue(second, { dedupeKey });
      await second.commit();
      expect(await actor.store.intake(10)).toMatchObject({ created: 0 });
      await first.rollback();
      expect(await actor.store.intake(10)).toMatchObject({ created: 1 });
      expect((await actor.only()).id).toBe(asked.id);
    });

    it('Q4: a commit later than the claim of the job it met is covered by a run that starts after it', async () => {
      await actor.add({ dedupeKey });
      const late = await begin();
      await enqueue(late, { dedupeKey });
      const run = await actor.claimOne();
      await late.commit();
      await actor.intake();
      expect(await application().requests()).toBe(1);
      await actor.end(run);
      await actor.intake();
      expect(await actor.claimOne()).toMatchObject({ attempt: 1 });
    });

    it('Q4: a REPEATABLE READ caller with an old snapshot is satisfied by the run it saw only while that very run goes on', async () => {
      await actor.add({ dedupeKey });
      const run = await actor.claimOne();
      const callers = [await begin({ isolation: 'REPEATABLE READ' }), await begin({ isolation: 'REPEATABLE READ' })];
      for (const open of callers) await sql(open, 'SELECT 1');
      for (const open of callers)
        expect(await enqueue(open, { dedupeKey })).toMatchObject({ disposition: 'existing', id: run.id });
      await callers[0]!.commit();
      await actor.intake();
      expect(await application().requests()).toBe(0);
      await actor.end(run);
      await callers[1]!.commit();
      await actor.intake();
      expect((await harness().inspect()).map(({ state }) => state)).toEqual(['SUCCEEDED', 'PENDING']);
    });

    it('Q7: callers never wait for each other, for an intake or for a worker that is just finishing the key', async () => {
      await actor.add({ dedupeKey });
      const run = await actor.claimOne();
      const finishing = await begin({ settings: { 'holdfast.run': run.lease.token } });
      await sql(finishing, `UPDATE holdfast.job SET state = state WHERE id = ${run.id}`);
      const callers = await Promise.all(Array.from({ length: 5 }, () => begin()));
      for (const open of callers) {
        await sql(open, `SET LOCAL lock_timeout = '100ms'`);
        await enqueue(open, { dedupeKey, whenRunning: 'rerun' });
        await enqueue(open, { dedupeKey: 'fresh' });
      }
      await Promise.all(callers.map((open) => open.commit()));
      await finishing.rollback();
      await actor.end(run);
      await actor.intake();
      expect((await harness().inspect()).filter(({ state }) => state === 'PENDING')).toHaveLength(2);
    });

    it('a transaction that enqueues thousands of keys takes a bounded number of locks', async () => {
      const open = await begin();
      const requests = Array.from({ length: 3_000 }, (_, i) => request({ dedupeKey: `key-${i}` }));
      const answers = await actor.store.enqueueMany(requests, application().executor(open.transaction));
      const locks = await open.transaction.sql.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()`,
      );
      expect(locks.rows[0]!.n).toBe(16);
      await open.commit();
      await actor.intake();
      expect(new Set((await harness().inspect()).map(({ id }) => id))).toEqual(new Set(answers.map(({ id }) => id)));
    });

    it('K11: moments with microseconds are compared in the database alone: 1,000 of 1,000 are renewed, completed and pulled forward', async () => {
      const open = await begin();
      const requests = Array.from({ length: 1_000 }, (_, i) => request({ dedupeKey: `key-${i}`, dueInMs: 3_600_000 }));
      await actor.store.enqueueMany(requests, application().executor(open.transaction));
      await open.commit();
      await actor.intake();
      const odd = await begin();
      const moments = `date_trunc('milliseconds', clock_timestamp()) + interval '1 microsecond'`;
      await sql(odd, `UPDATE holdfast.job SET due_at = ${moments} + interval '1 hour'`);
      await actor.store.enqueueMany(
        requests.map((one) => ({ ...one, dueInMs: null })),
        application().executor(odd.transaction),
      );
      await odd.commit();
      await actor.intake();
      const jobs = await actor.store.claim(order());
      expect(jobs).toHaveLength(1_000);
      const odder = await begin();
      await sql(
        odder,
        `UPDATE holdfast.job SET lease_until = ${moments} + interval '1 minute', claimed_at = ${moments}`,
      );
      await odder.commit();
      expect(
        await actor.store.renew(
          jobs.map(({ lease }) => lease),
          60_000,
        ),
      ).toHaveLength(1_000);
      const answers = await actor.store.settle(
        jobs.map(({ lease }) => ({ lease, settlement: { outcome: null, verb: 'complete' } })),
      );
      expect(answers.filter((held) => held)).toHaveLength(1_000);
    });

    it('K66: ids beyond 2^53 stay exact', async () => {
      const far = await begin();
      await sql(far, `SELECT setval('holdfast.job_id', 9007199254740993)`);
      await far.commit();
      await actor.add({}, { dedupeKey });
      const jobs = await actor.store.claim(order());
      expect(jobs.map(({ id }) => id)).toEqual(['9007199254740994', '9007199254740995']);
      expect(
        await actor.store.renew(
          jobs.map(({ lease }) => lease),
          1_000,
        ),
      ).toHaveLength(2);
      const settlement = { outcome: null, verb: 'complete' } as const;
      expect(await actor.store.settle(jobs.map(({ lease }) => ({ lease, settlement })))).toEqual([true, true]);
    });

    it('K66: an enqueue that meets a live job takes at most one id', async () => {
      const [first] = await actor.add({ dedupeKey });
      for (let i = 0; i < 10; i++) await actor.add({ dedupeKey });
      const [last] = await actor.add({});
      expect(BigInt(last!.id) - BigInt(first!.id) <= 11n).toBe(true);
      await actor.intake();
      await actor.claimOne();
      const [before] = await actor.add({});
      for (let i = 0; i < 10; i++) await actor.add({ dedupeKey });
      const [after] = await actor.add({});
      expect(BigInt(after!.id) - BigInt(before!.id)).toBe(1n);
    });

    it('enqueueNow writes all of a mixed batch or nothing', async () => {
      const bad = request({ dedupeKey, kind: '' });
      await expect(actor.store.enqueueNow([request(), bad])).rejects.toThrow();
      expect(await harness().inspect()).toEqual([]);
    });

    it('R5: a token that was never claimed gives back nothing', async () => {
      await actor.add({});
      expect(await actor.store.giveBackClaim(randomUUID())).toBe(0);
    });
  });
}
