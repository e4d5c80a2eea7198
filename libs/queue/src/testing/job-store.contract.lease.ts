import type { ClaimedJob } from '../ports/job-store.js';
import { failure, KIND, order, OVER_MS, request, StoreActor, type JobStoreHarness } from './job-store.harness.js';

/** leaseContract is how leases run out, are kept, and are given back. */
export function leaseContract(harness: () => JobStoreHarness): void {
  const actor = new StoreActor(harness);
  const reap = () => actor.store.reap([KIND], 1_000);
  /** A lease that has run out when it is made. */
  const expired = (changes: Parameters<StoreActor['claimOne']>[0] = {}) =>
    actor.claimOne({ leaseMs: OVER_MS, ...changes });

  describe('lease', () => {
    it('Q12: a lease that ran out brings the job back, as a suspect, with the attempt spent', async () => {
      await actor.add({});
      const lost = await expired();
      expect(await reap()).toEqual({ cancelled: [], deadLettered: [], returned: [{ id: lost.id, kind: KIND }] });
      expect(await actor.only()).toMatchObject({
        attempt: 1,
        errorCode: 'queue.lease_expired',
        failures: [{ attempt: 1, code: 'queue.lease_expired' }],
        leaseToken: null,
        state: 'PENDING',
        suspect: true,
      });
      expect(await actor.end(lost)).toBe(false);
      expect(await actor.only()).toMatchObject({ state: 'PENDING' });
    });

    it('R15: a report is written for who holds the lease, the newest value, and stays when the run has ended', async () => {
      await actor.add({}, {});
      const [one, two] = [await actor.claimOne(), await actor.claimOne()];
      const { store } = actor;
      expect((await actor.see(one.id)).progress).toBeNull();
      const held = await store.report([
        { fraction: 0.5, lease: two.lease },
        { fraction: 0.25, lease: one.lease },
      ]);
      expect(held).toEqual(expect.arrayContaining([one.lease, two.lease]));
      expect(await store.report([{ fraction: 0.75, lease: one.lease }])).toEqual([one.lease]);
      await actor.end(one);
      await actor.end(two, { verb: 'retry', delayMs: 0, failure: failure() });
      expect(await actor.see(one.id)).toMatchObject({ progress: 0.75, state: 'SUCCEEDED' });
      expect(await actor.see(two.id)).toMatchObject({ progress: 0.5, state: 'PENDING' });
      expect(await store.report([])).toEqual([]);
    });

    it('R15: a run begins without progress, and the one before it, in another process, writes nothing over its own', async () => {
      await actor.add({});
      const lost = await expired();
      const other = harness().another();
      await other.report([{ fraction: 0.5, lease: lost.lease }]);
      await reap();
      expect(await other.report([{ fraction: 0.6, lease: lost.lease }])).toEqual([]);
      expect((await actor.only()).progress).toBe(0.5);
      const next = await actor.store.claimSuspect(order());
      expect((await actor.only()).progress).toBeNull();
      await actor.store.report([{ fraction: 0.1, lease: next!.lease }]);
      const mixed = [{ fraction: 0.9, lease: lost.lease }];
      expect(await other.report(mixed)).toEqual([]);
      await other.close();
      expect((await actor.only()).progress).toBe(0.1);
    });

    it('Q12: at the last attempt it ends in the dead letter', async () => {
      await actor.add({ maxAttempts: 1 });
      const lost = await expired();
      expect(await reap()).toEqual({ cancelled: [], deadLettered: [{ id: lost.id, kind: KIND }], returned: [] });
      expect(await actor.only()).toMatchObject({
        errorCode: 'queue.attempts_exhausted',
        state: 'DEAD_LETTER',
        suspect: false,
      });
      expect(await reap()).toEqual({ cancelled: [], deadLettered: [], returned: [] });
    });

    it('Q12: leaves leases that run, and those of kinds that others handle', async () => {
      await actor.add({}, { kind: 'stranger' });
      await actor.claimOne();
      await expired({ kind: 'stranger' });
      expect(await reap()).toEqual({ cancelled: [], deadLettered: [], returned: [] });
    });

    it('Q12: suspects are claimed by themselves alone, one at a time', async () => {
      await actor.add({}, {});
      await expired();
      await expired();
      expect((await reap()).returned).toHaveLength(2);
      expect(await actor.store.claim(order())).toEqual([]);
      expect(await actor.store.suspectsDue([KIND])).toBe(2);
      const suspect = await actor.store.claimSuspect(order());
      expect(suspect).toMatchObject({ attempt: 2, suspect: true });
      expect(await actor.store.suspectsDue([KIND])).toBe(1);
      expect(await actor.end(suspect!, { verb: 'giveBack' })).toBe(true);
      expect(await actor.store.suspectsDue([KIND])).toBe(2);
      const again = await actor.store.claimSuspect(order());
      await actor.end(again!, { delayMs: 0, failure: failure(2), verb: 'retry' });
      expect(await actor.store.suspectsDue([KIND])).toBe(1);
      expect(await actor.store.claim(order())).toHaveLength(1);
      expect(await actor.store.claimSuspect(order({ kinds: [] }))).toBeUndefined();
    });

    it('R7: a renewed lease is not reaped; one that is no longer renewed is', async () => {
      await actor.add({});
      const job = await expired();
      expect(await actor.store.renew([job.lease], 60_000)).toEqual([job.lease]);
      expect((await reap()).returned).toEqual([]);
      expect(await actor.store.renew([job.lease], OVER_MS)).toEqual([job.lease]);
      expect((await reap()).returned).toHaveLength(1);
    });

    it('R7: a renewal answers only the leases still held', async () => {
      await actor.add({}, {}, {});
      const [one, two, three] = await actor.store.claim(order());
      await actor.end(two!);
      await actor.end(three!, { verb: 'giveBack' });
      const again = await actor.claimOne();
      const asked = [three!.lease, two!.lease, one!.lease, again.lease, one!.lease];
      const held = await actor.store.renew(asked, 60_000);
      expect(held).toEqual(expect.arrayContaining([one!.lease, again.lease]));
      expect(held).not.toContainEqual(two!.lease);
      expect(held).not.toContainEqual(three!.lease);
      expect(await actor.store.renew([], 60_000)).toEqual([]);
    });

    it('R7: the renewal of an earlier lease does not keep a later one alive', async () => {
      await actor.add({});
      const first = await actor.claimOne();
      await actor.store.renew([first.lease], 60_000);
      expect(await actor.store.giveBackClaim(first.lease.token)).toBe(1);
      await expired();
      expect((await reap()).returned).toHaveLength(1);
    });

    it('K24: the lease alone says that a job is lost: another process of the same name and living does not matter', async () => {
      await actor.add({});
      await expired({ owner: 'host-1' });
      await actor.add({});
      await actor.claimOne({ leaseMs: 60_000, owner: 'host-1' });
      expect((await reap()).returned).toHaveLength(1);
    });

    it('K7: completion and recovery race for 500 jobs: each ends by one of them, and the other notices', async () => {
      await harness().store.enqueueNow(Array.from({ length: 500 }, () => request({ maxAttempts: 1 })));
      const rival = harness().another();
      try {
        const jobs = await actor.store.claim(order({ leaseMs: OVER_MS }));
        expect(jobs).toHaveLength(500);
        const parts = Array.from({ length: 20 }, (_, i) => jobs.slice(i * 25, i * 25 + 25));
        const complete = (part: ClaimedJob[]) =>
          actor.store.settle(part.map(({ lease }) => ({ lease, settlement: { outcome: null, verb: 'complete' } })));
        const reapSome = async () => (await rival.reap([KIND], 25)).deadLettered.map(({ id }) => id);
        const [completed, buried] = await Promise.all([
          Promise.all(parts.map(complete)),
          Promise.all(parts.map(reapSome)),
        ]);
        const done = jobs.filter((_, i) => completed.flat()[i]).map(({ id }) => id);
        const dead = buried.flat();
        expect(new Set([...done, ...dead]).size).toBe(done.length + dead.length);
        expect(done.length + dead.length).toBe(500);
        const states = new Map((await harness().inspect()).map(({ id, state }) => [id, state]));
        for (const id of done) expect(states.get(id)).toBe('SUCCEEDED');
        for (const id of dead) expect(states.get(id)).toBe('DEAD_LETTER');
      } finally {
        await rival.close();
      }
    });

    it('R5: a claim whose answer was lost is given back by its token, with the attempts', async () => {
      await actor.add({}, {}, {});
      const [done, ...rest] = await actor.store.claim(order({ token: '6ad0ae2c-0000-4000-8000-000000000001' }));
      await actor.end(done!);
      expect(await actor.store.giveBackClaim('6ad0ae2c-0000-4000-8000-000000000001')).toBe(2);
      expect(await actor.store.giveBackClaim('6ad0ae2c-0000-4000-8000-000000000001')).toBe(0);
      for (const { id } of rest) expect(await actor.see(id)).toMatchObject({ attempt: 0, state: 'PENDING' });
      expect(await actor.store.claim(order({ fullLook: false }))).toHaveLength(2);
    });

    it('R3: a verdict tells what became of an attempt', async () => {
      await actor.add({}, {}, {}, {});
      const [done, repeated, lost, held] = await actor.store.claim(order());
      await actor.end(done!);
      await actor.end(repeated!, { delayMs: 0, outcome: null, verb: 'repeat' });
      await actor.end(lost!, { delayMs: 0, failure: failure(), verb: 'retry' });
      const verdicts = await Promise.all(
        [done!, repeated!, lost!, held!].map((job) => actor.store.verdict(job.lease, job.attempt)),
      );
      expect(verdicts).toEqual(['settled', 'settled', 'lost', 'held']);
    });

    it('R2: a verdict tells a lease that the reaper took, also while the next run goes on', async () => {
      await actor.add({});
      const taken = await expired();
      await reap();
      expect(await actor.store.verdict(taken.lease, taken.attempt)).toBe('expired');
      const next = await actor.store.claimSuspect(order());
      expect(await actor.store.verdict(taken.lease, taken.attempt)).toBe('expired');
      expect(await actor.store.verdict(next!.lease, next!.attempt)).toBe('held');
      await actor.end(next!, { delayMs: 0, failure: failure(2), verb: 'retry' });
      expect(await actor.store.verdict(next!.lease, next!.attempt)).toBe('lost');
    });
  });
}
