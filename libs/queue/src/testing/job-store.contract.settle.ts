import type { Settlement } from '../domain/settlement.js';
import { failure, KIND, order, StoreActor, type JobStoreHarness } from './job-store.harness.js';

const YEARS_MS = 9 * 365 * 86_400_000;

/** settleContract is what each verb makes of a run, behind its fence. */
export function settleContract(harness: () => JobStoreHarness): void {
  const actor = new StoreActor(harness);
  const settled = async (settlement: Settlement, changes: Parameters<StoreActor['add']>[0] = {}) => {
    await actor.add(changes);
    const job = await actor.claimOne();
    expect(await actor.end(job, settlement)).toBe(true);
    return actor.only();
  };

  describe('settle', () => {
    it('complete: SUCCEEDED with its outcome', async () => {
      const job = await settled({ outcome: 'sent.twice', verb: 'complete' });
      expect(job).toMatchObject({
        attempt: 1,
        errorCode: null,
        leaseToken: null,
        outcome: 'sent.twice',
        state: 'SUCCEEDED',
      });
    });

    it('R11: repeat: PENDING after the delay, attempts 0, failures and deferral cleared', async () => {
      await actor.add({});
      await actor.end(await actor.claimOne(), { delayMs: 0, failure: failure(), verb: 'retry' });
      await actor.end(await actor.claimOne(), { delayMs: 0, failure: failure(2), verb: 'defer' });
      await actor.end(await actor.claimOne(), { delayMs: 60_000, outcome: 'pass.done', verb: 'repeat' });
      const job = await actor.only();
      expect(job).toMatchObject({
        attempt: 0,
        deferred: false,
        errorCode: null,
        failures: [],
        outcome: 'pass.done',
        state: 'PENDING',
      });
      expect(job.dueInMs).toBeGreaterThan(50_000);
      expect(job.dueInMs).toBeLessThanOrEqual(60_000);
    });

    it('retry: PENDING after the delay, the attempt stays spent, the failure is kept', async () => {
      const job = await settled({
        delayMs: 60_000,
        failure: { attempt: 1, code: 'peer.broken', errorClass: 'TypeError' },
        verb: 'retry',
      });
      expect(job).toMatchObject({ attempt: 1, errorCode: 'peer.broken', state: 'PENDING' });
      expect(job.failures).toMatchObject([{ attempt: 1, code: 'peer.broken', errorClass: 'TypeError' }]);
      expect(Math.abs(Date.now() - Date.parse(job.failures[0]!.at))).toBeLessThan(60_000);
      expect(job.dueInMs).toBeGreaterThan(50_000);
    });

    it('a retry without attempts left ends as a dead letter, so that no row is left that cannot be claimed', async () => {
      const job = await settled({ delayMs: 0, failure: failure(), verb: 'retry' }, { maxAttempts: 1 });
      expect(job).toMatchObject({ attempt: 1, errorCode: 'test.failed', state: 'DEAD_LETTER' });
    });

    it('R10: defer: PENDING, the attempt given back, the first moment of the outage kept', async () => {
      await actor.add({});
      await actor.end(await actor.claimOne(), { delayMs: 0, failure: failure(), verb: 'defer' });
      const second = await actor.claimOne();
      expect(second.attempt).toBe(1);
      expect(second.deferredMs).not.toBeNull();
      await actor.end(second, { delayMs: 0, failure: failure(), verb: 'defer' });
      const third = await actor.claimOne();
      expect(third.deferredMs!).toBeGreaterThanOrEqual(second.deferredMs!);
      await actor.end(third, { delayMs: 0, failure: failure(), verb: 'retry' });
      expect(await actor.only()).toMatchObject({ attempt: 1, deferred: false, state: 'PENDING' });
    });

    it('R10: a retry in an outage that goes on keeps its first moment, and its end as a dead letter does not', async () => {
      await actor.add({ maxAttempts: 2 });
      await actor.end(await actor.claimOne(), { delayMs: 0, failure: failure(), verb: 'defer' });
      await actor.end(await actor.claimOne(), { delayMs: 0, failure: failure(), outage: true, verb: 'retry' });
      expect(await actor.only()).toMatchObject({ attempt: 1, deferred: true, state: 'PENDING' });
      const last = await actor.claimOne();
      expect(last.deferredMs).not.toBeNull();
      await actor.end(last, { delayMs: 0, failure: failure(), outage: true, verb: 'retry' });
      expect(await actor.only()).toMatchObject({ attempt: 2, deferred: false, state: 'DEAD_LETTER' });
    });

    it('R5: lose: three times in a row the attempt is given back, then it is spent', async () => {
      await actor.add({});
      for (const attempt of [0, 0, 0, 1, 2]) {
        await actor.end(await actor.claimOne(), { delayMs: 0, failure: failure(), verb: 'lose' });
        expect(await actor.only()).toMatchObject({ attempt, state: 'PENDING' });
      }
      await actor.end(await actor.claimOne(), { delayMs: 0, failure: failure(), verb: 'retry' });
      await actor.end(await actor.claimOne(), { delayMs: 0, failure: failure(), verb: 'lose' });
      expect(await actor.only()).toMatchObject({ attempt: 3, losses: 1 });
    });

    it('R12: refuse: FAILED with code and params', async () => {
      const job = await settled({ code: 'order.closed', params: { at: '2026-01-01T00:00:00Z', n: 2 }, verb: 'refuse' });
      expect(job).toMatchObject({
        errorCode: 'order.closed',
        refusal: { code: 'order.closed', params: { at: '2026-01-01T00:00:00Z', n: 2 } },
        state: 'FAILED',
      });
    });

    it('bury: DEAD_LETTER with the failure', async () => {
      const job = await settled({ failure: failure(1, 'never.works'), verb: 'bury' });
      expect(job).toMatchObject({
        attempt: 1,
        errorCode: 'never.works',
        failures: [{ code: 'never.works' }],
        state: 'DEAD_LETTER',
      });
    });

    it('giveBack: PENDING as before the claim, and a quick look finds it again', async () => {
      const job = await settled({ verb: 'giveBack' }, { dueAt: new Date(Date.now() - 60_000).toISOString() });
      expect(job).toMatchObject({ attempt: 0, errorCode: null, failures: [], state: 'PENDING' });
      expect(job.dueInMs).toBeLessThan(-50_000);
      expect(await actor.store.claim(order({ fullLook: false }))).toHaveLength(1);
    });

    it('R8: keeps the last five failures', async () => {
      await actor.add({ maxAttempts: null });
      for (let attempt = 1; attempt <= 7; attempt++)
        await actor.end(await actor.claimOne(), {
          delayMs: 0,
          failure: failure(attempt, `test.failed_${attempt}`),
          verb: 'retry',
        });
      expect((await actor.only()).failures.map(({ attempt }) => attempt)).toEqual([3, 4, 5, 6, 7]);
    });

    it('R10: an outage that goes on takes one place among the failures', async () => {
      await actor.add({});
      await actor.end(await actor.claimOne(), { delayMs: 0, failure: failure(1, 'peer.broken'), verb: 'retry' });
      for (let i = 0; i < 10; i++)
        await actor.end(await actor.claimOne(), { delayMs: 0, failure: failure(2, 'peer.away'), verb: 'defer' });
      expect((await actor.only()).failures.map(({ code }) => code)).toEqual(['peer.broken', 'peer.away']);
    });

    it('K3: the end of an attempt is recordable whatever its text holds', async () => {
      const message = `a\u0000b\ud800c${'x'.repeat(5_000_000)}`;
      const job = await settled({
        delayMs: 0,
        failure: { attempt: 1, code: 'test.failed', errorClass: 'E\u0000', message },
        verb: 'retry',
      });
      expect(job.state).toBe('PENDING');
      expect(job.failures[0]!.message).toMatch(/^a.b.cx/);
      expect(job.failures[0]!.message!.length).toBeLessThanOrEqual(2_000);
    });

    it.each([1e300, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER])(
      'K57: a delay of %p ms is bounded, not out of range',
      async (delayMs) => {
        const job = await settled({ delayMs, failure: failure(), verb: 'retry' });
        expect(job.dueInMs).toBeGreaterThan(YEARS_MS);
      },
    );

    it.each([-1, Number.NaN, Number.NEGATIVE_INFINITY])('K57: a delay of %p ms is none', async (delayMs) => {
      const job = await settled({ delayMs, outcome: null, verb: 'repeat' });
      expect(job.dueInMs).toBeLessThanOrEqual(0);
      expect(job.dueInMs).toBeGreaterThan(-60_000);
    });

    it('K61: fifteen deferrals do not count as attempts: the first real failure is attempt 1', async () => {
      await actor.add({});
      for (let i = 0; i < 15; i++)
        await actor.end(await actor.claimOne(), { delayMs: 0, failure: failure(), verb: 'defer' });
      const job = await actor.claimOne();
      expect(job.attempt).toBe(1);
      await actor.end(job, { delayMs: 10_000, failure: failure(job.attempt), verb: 'retry' });
      expect(await actor.only()).toMatchObject({ attempt: 1 });
    });

    it('K65: one that always asks for later does not stand before the others', async () => {
      const [later, ...good] = await actor.add(...Array.from({ length: 11 }, () => ({})));
      const ran: string[] = [];
      for (let i = 0; i < 11; i++) {
        const job = await actor.claimOne({ fullLook: false });
        ran.push(job.id);
        const asksForLater = job.id === later!.id;
        await actor.end(job, asksForLater ? { delayMs: 60_000, failure: failure(), verb: 'defer' } : undefined);
      }
      expect(ran).toEqual([later!.id, ...good.map(({ id }) => id)]);
      expect((await actor.see(later!.id)).dueInMs).toBeGreaterThan(50_000);
    });

    it('R2: a settlement under another token, or a second one, changes nothing and says so', async () => {
      await actor.add({});
      const job = await actor.claimOne();
      const other = { lease: { jobId: job.id, token: '00000000-0000-4000-8000-000000000000' } };
      const complete = { outcome: 'late.one', verb: 'complete' } as const;
      expect(await actor.store.settle([{ ...other, settlement: complete }])).toEqual([false]);
      expect(await actor.store.settle([{ ...other, settlement: { failure: failure(), verb: 'bury' } }])).toEqual([
        false,
      ]);
      expect(await actor.only()).toMatchObject({ state: 'RUNNING' });
      expect(await actor.end(job)).toBe(true);
      expect(await actor.end(job, { failure: failure(), verb: 'bury' })).toBe(false);
      expect(await actor.only()).toMatchObject({ outcome: null, state: 'SUCCEEDED' });
    });

    it('R2: one batch of every verb answers for each lease by itself, also for the old and the new lease of one job', async () => {
      await actor.add(...Array.from({ length: 9 }, () => ({})));
      const jobs = await actor.store.claim(order());
      await actor.store.settle([{ lease: jobs[0]!.lease, settlement: { verb: 'giveBack' } }]);
      const [again] = await actor.store.claim(order());
      expect(again!.id).toBe(jobs[0]!.id);
      const verbs: Settlement[] = [
        { outcome: 'a.b', verb: 'complete' },
        { outcome: null, verb: 'complete' },
        { delayMs: 1, outcome: null, verb: 'repeat' },
        { delayMs: 1, failure: failure(), verb: 'retry' },
        { delayMs: 1, failure: failure(), verb: 'defer' },
        { code: 'no.more', params: null, verb: 'refuse' },
        { failure: failure(), verb: 'bury' },
        { verb: 'giveBack' },
        { outcome: null, verb: 'complete' },
      ];
      const batch = jobs.map(({ lease }, i) => ({ lease, settlement: verbs[i]! }));
      const answers = await actor.store.settle([
        ...batch,
        { lease: again!.lease, settlement: { outcome: 'c.d', verb: 'complete' } },
      ]);
      expect(answers).toEqual([false, true, true, true, true, true, true, true, true, true]);
      expect(await actor.see(again!.id)).toMatchObject({ outcome: 'c.d', state: 'SUCCEEDED' });
    });

    it('settles nothing and claims nothing of nothing', async () => {
      expect(await actor.store.settle([])).toEqual([]);
      expect(await actor.store.reap([], 10)).toEqual({ cancelled: [], deadLettered: [], returned: [] });
      expect(await actor.store.depth([KIND])).toEqual([{ due: 0, kind: KIND, oldestDueAgeMs: 0 }]);
    });
  });
}
