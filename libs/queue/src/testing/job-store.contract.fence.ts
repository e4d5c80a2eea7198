import { TransactionEndedError, type IsolationLevel } from '@holdfast/kernel';
import { LeaseLostError } from '../errors/lease-lost.error.js';
import type { ClaimedJob, LeasedCompletion } from '../ports/job-store.js';
import { KIND, order, OVER_MS, request, StoreActor, type JobStoreHarness } from './job-store.harness.js';

const ISOLATIONS: readonly IsolationLevel[] = ['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'];

/** fenceContract is the completion that commits together with the handler's writes. */
export function fenceContract(harness: () => JobStoreHarness): void {
  const actor = new StoreActor(harness);
  const application = () => harness().application!;
  const beginRun = (job: ClaimedJob, isolation?: IsolationLevel) =>
    application().begin({ isolation: isolation ?? 'READ COMMITTED', settings: { 'holdfast.run': job.lease.token } });
  const complete = { outcome: null, verb: 'complete' } as const;

  describe('completeIn', () => {
    it.each(ISOLATIONS)('R1: the effect and the completion commit together (%s)', async (isolation) => {
      await actor.add({});
      const job = await actor.claimOne();
      const open = await beginRun(job, isolation);
      await application().effect(open.transaction, 'done');
      await actor.store.enqueue(request({ kind: 'follow.up' }), application().executor(open.transaction));
      expect(await actor.see(job.id)).toMatchObject({ state: 'RUNNING' });
      await actor.store.completeIn(open, job.lease, { outcome: 'all.well', verb: 'complete' });
      expect(await actor.see(job.id)).toMatchObject({ leaseToken: null, outcome: 'all.well', state: 'SUCCEEDED' });
      expect(await application().effects()).toEqual(['done']);
      expect(await harness().inspect()).toHaveLength(2);
    });

    it('R11: repeat commits together with the effects of the run', async () => {
      await actor.add({});
      const job = await actor.claimOne();
      const open = await beginRun(job);
      await application().effect(open.transaction, 'passed');
      await actor.store.completeIn(open, job.lease, { delayMs: 60_000, outcome: 'pass.done', verb: 'repeat' });
      expect(await actor.only()).toMatchObject({ attempt: 0, outcome: 'pass.done', state: 'PENDING' });
      expect((await actor.only()).dueInMs).toBeGreaterThan(50_000);
      expect(await application().effects()).toEqual(['passed']);
    });

    it('R2: a lost lease raises in the fence: everything rolls back, nothing is recorded', async () => {
      await actor.add({});
      const job = await actor.claimOne({ leaseMs: OVER_MS });
      const open = await beginRun(job);
      await application().effect(open.transaction, 'late');
      await actor.store.reap([KIND], 10);
      await expect(actor.store.completeIn(open, job.lease, complete)).rejects.toBeInstanceOf(LeaseLostError);
      expect(await application().effects()).toEqual([]);
      expect(await actor.only()).toMatchObject({ state: 'PENDING' });
      expect(open.state).toBe('ended');
    });

    it('R2: the same holds when the lease belongs to a later run', async () => {
      await actor.add({});
      const job = await actor.claimOne();
      await actor.end(job, { verb: 'giveBack' });
      const later = await actor.claimOne();
      const open = await beginRun(job);
      await application().effect(open.transaction, 'late');
      await expect(
        actor.store.completeIn(open, job.lease, { delayMs: 0, outcome: null, verb: 'repeat' }),
      ).rejects.toBeInstanceOf(LeaseLostError);
      expect(await application().effects()).toEqual([]);
      expect(await actor.only()).toMatchObject({ leaseToken: later.lease.token, state: 'RUNNING' });
    });

    it('R4: a transaction that is not the one the run opened is refused', async () => {
      await actor.add({});
      const job = await actor.claimOne();
      const open = await application().begin();
      await application().effect(open.transaction, 'elsewhere');
      await expect(actor.store.completeIn(open, job.lease, complete)).rejects.toBeInstanceOf(TransactionEndedError);
      expect(await application().effects()).toEqual([]);
      expect(await actor.only()).toMatchObject({ state: 'RUNNING' });
    });

    it('R3: a deferred constraint that fails at COMMIT is an error of its own, and nothing is completed', async () => {
      await actor.add({});
      const job = await actor.claimOne();
      const open = await beginRun(job);
      await application().effect(open.transaction, 'twice');
      await application().effect(open.transaction, 'twice');
      await expect(actor.store.completeIn(open, job.lease, complete)).rejects.toMatchObject({ code: '23505' });
      expect(await actor.only()).toMatchObject({ leaseToken: job.lease.token, state: 'RUNNING' });
      expect(await application().effects()).toEqual([]);
    });

    it.each(ISOLATIONS)(
      'Q16: renewals and a hold write no job row and do not disturb the handler (%s)',
      async (isolation) => {
        await actor.add({ dedupeKey: 'key' });
        const job = await actor.claimOne();
        const open = await beginRun(job, isolation);
        const version = async () =>
          (await open.transaction.sql.query<{ v: string }>(`SELECT xmin || ' ' || ctid AS v FROM holdfast.job`))
            .rows[0]!.v;
        const before = await version();
        await actor.store.hold(job.lease);
        for (let i = 0; i < 3; i++) expect(await actor.store.renew([job.lease], 60_000)).toHaveLength(1);
        await application().effect(open.transaction, 'done');
        expect(await version()).toBe(before);
        await actor.store.completeIn(open, job.lease, complete);
        expect(await actor.only()).toMatchObject({ state: 'SUCCEEDED' });
      },
    );

    it('K5: a handler that locks its own job row delays no renewal', async () => {
      await actor.add({}, {});
      const job = await actor.claimOne();
      const other = await actor.claimOne();
      const open = await beginRun(job);
      await open.transaction.sql.query(`SELECT FROM holdfast.job WHERE id = ${job.id} FOR UPDATE`);
      const begun = performance.now();
      expect(await actor.store.renew([job.lease, other.lease], 60_000)).toHaveLength(2);
      expect(await actor.store.hold(job.lease)).toBe(true);
      expect(performance.now() - begun).toBeLessThan(1_000);
      await actor.store.completeIn(open, job.lease, complete);
    });
  });

  describe('completeGroupIn', () => {
    const mark = 'a mark';
    const beginGroup = async (count: number, isolation: IsolationLevel = 'READ COMMITTED') => {
      await actor.add(...Array.from({ length: count }, () => ({})));
      const jobs = await actor.store.claim(order({ limit: count }));
      const open = await application().begin({ isolation, settings: { 'holdfast.run': mark }, shared: true });
      return { jobs, open };
    };
    const all = (jobs: readonly ClaimedJob[]) => jobs.map(({ lease }) => ({ completion: complete, lease }));
    const states = async () => (await harness().inspect()).map(({ state }) => state);

    it.each(ISOLATIONS)(
      'R21: effects and completions of several runs commit together, in any order (%s)',
      async (level) => {
        const { jobs, open } = await beginGroup(4, level);
        await application().effect(open.transaction, 'done');
        const group: LeasedCompletion[] = all(jobs).reverse();
        group[1] = { ...group[1]!, completion: { outcome: 'all.well', verb: 'complete' } };
        await actor.store.completeGroupIn(open, mark, group);
        expect(await states()).toEqual(Array(4).fill('SUCCEEDED'));
        expect(await actor.see(group[1].lease.jobId)).toMatchObject({ leaseToken: null, outcome: 'all.well' });
        expect(await actor.see(group[0]!.lease.jobId)).toMatchObject({ outcome: null });
        expect(await application().effects()).toEqual(['done']);
      },
    );

    it('R11, R21: some of them repeat', async () => {
      const { jobs, open } = await beginGroup(3);
      const group: LeasedCompletion[] = all(jobs);
      group[1] = { ...group[1]!, completion: { delayMs: 60_000, outcome: 'pass.done', verb: 'repeat' } };
      await actor.store.completeGroupIn(open, mark, group);
      expect(await states()).toEqual(['SUCCEEDED', 'PENDING', 'SUCCEEDED']);
      const again = await actor.see(jobs[1]!.id);
      expect(again).toMatchObject({ attempt: 0, leaseToken: null, outcome: 'pass.done' });
      expect(again.dueInMs).toBeGreaterThan(50_000);
    });

    it.each(['complete', 'repeat'] as const)(
      'R2, R21: one lost lease raises in the fence of all: everything rolls back (%s)',
      async (verb) => {
        const { jobs, open } = await beginGroup(3);
        await application().effect(open.transaction, 'late');
        await actor.end(jobs[1]!, { verb: 'giveBack' });
        const group: LeasedCompletion[] = all(jobs);
        if (verb === 'repeat') group[1] = { ...group[1]!, completion: { delayMs: 0, outcome: null, verb } };
        await expect(actor.store.completeGroupIn(open, mark, group)).rejects.toBeInstanceOf(LeaseLostError);
        expect(await states()).toEqual(['RUNNING', 'PENDING', 'RUNNING']);
        expect(await application().effects()).toEqual([]);
        expect(open.state).toBe('ended');
      },
    );

    it('R4, R21: a transaction without the mark of the group is refused', async () => {
      const { jobs, open } = await beginGroup(2);
      await expect(actor.store.completeGroupIn(open, 'another', all(jobs))).rejects.toBeInstanceOf(
        TransactionEndedError,
      );
      expect(await states()).toEqual(['RUNNING', 'RUNNING']);
    });
  });
}
