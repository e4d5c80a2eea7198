import type { Settlement } from '../domain/settlement.js';
import type { ClaimedJob } from '../ports/job-store.js';
import { failure, KIND, order, OVER_MS, request, StoreActor, type JobStoreHarness } from './job-store.harness.js';

const ENDS: Settlement[] = [
  { verb: 'cancel' },
  { code: 'test.refused', params: null, verb: 'refuse' },
  { delayMs: 0, failure: failure(), verb: 'retry' },
  { delayMs: 0, failure: failure(), verb: 'defer' },
  { delayMs: 0, failure: failure(), verb: 'lose' },
  { failure: failure(), verb: 'bury' },
  { delayMs: 0, outcome: 'pass.done', verb: 'repeat' },
  { verb: 'giveBack' },
];

/** cancelContract is what becomes of jobs that somebody cancels. */
export function cancelContract(harness: () => JobStoreHarness): void {
  const actor = new StoreActor(harness);
  const { cancel, reap } = {
    cancel: (id: string) => actor.store.cancel(id),
    reap: () => actor.store.reap([KIND], 1_000),
  };
  const running = async (changes: Parameters<StoreActor['claimOne']>[0] = {}) => {
    await actor.add({ dedupeKey: 'key' });
    return actor.claimOne(changes);
  };

  describe('cancel', () => {
    it('R16: a pending job ends as CANCELLED at once, is not claimed, and frees its key', async () => {
      const [pending] = await actor.add({ dedupeKey: 'key' });
      expect(await cancel(pending!.id)).toEqual({ disposition: 'cancelled', id: pending!.id });
      expect(await actor.only()).toMatchObject({ attempt: 0, errorCode: null, state: 'CANCELLED', suspect: false });
      expect(await actor.store.claim(order())).toEqual([]);
      const [next] = await actor.add({ dedupeKey: 'key' });
      expect(next).toMatchObject({ disposition: 'created' });
    });

    it('R16: a job that waits out a retry, a deferral or a lost lease is pending', async () => {
      await actor.add({}, {}, {});
      const [retried, deferred] = await actor.store.claim(order({ limit: 2 }));
      await actor.end(retried!, { delayMs: 60_000, failure: failure(), verb: 'retry' });
      await actor.end(deferred!, { delayMs: 60_000, failure: failure(), verb: 'defer' });
      const lost = await actor.claimOne({ leaseMs: OVER_MS });
      await reap();
      for (const { id } of [retried!, deferred!, lost]) {
        expect(await cancel(id)).toEqual({ disposition: 'cancelled', id });
        expect(await actor.see(id)).toMatchObject({ deferred: false, losses: 0, state: 'CANCELLED', suspect: false });
      }
      expect((await actor.see(retried!.id)).failures).toHaveLength(1);
      expect(await actor.store.suspectsDue([KIND])).toBe(0);
    });

    it('R16: what has ended, or was never there, is answered so, and stays as it is', async () => {
      const done = await running();
      await actor.end(done);
      expect(await cancel(done.id)).toEqual({ disposition: 'final', id: done.id, state: 'SUCCEEDED' });
      const [pending] = await actor.add({});
      await cancel(pending!.id);
      expect(await cancel(pending!.id)).toEqual({ disposition: 'final', id: pending!.id, state: 'CANCELLED' });
      expect(await cancel('999999999')).toEqual({ disposition: 'not_found' });
      expect(await cancel('-1')).toEqual({ disposition: 'not_found' });
      expect(await cancel('9223372036854775808')).toEqual({ disposition: 'not_found' });
      expect(await cancel('an id')).toEqual({ disposition: 'not_found' });
    });

    it('R16, H2: a tenant cancels its own jobs; those of others are not there', async () => {
      const [one] = await actor.add({ tenantId: 'a' });
      const [none] = await actor.add({});
      for (const tenantId of ['b', null])
        expect(await actor.store.cancel(one!.id, { tenantId })).toEqual({ disposition: 'not_found' });
      expect(await actor.store.cancel(none!.id, { tenantId: 'a' })).toEqual({ disposition: 'not_found' });
      expect(await actor.see(one!.id)).toMatchObject({ state: 'PENDING' });
      expect(await actor.store.cancel(one!.id, { tenantId: 'a' })).toMatchObject({ disposition: 'cancelled' });
      expect(await actor.store.cancel(none!.id, { tenantId: null })).toMatchObject({ disposition: 'cancelled' });
    });

    it('R16: a running job is left to whoever runs it, who learns of it', async () => {
      const [run, other] = [await running(), (await actor.add({}))[0]!];
      const bystander = await actor.claimOne();
      expect(bystander.id).toBe(other.id);
      expect(await cancel(run.id)).toEqual({ disposition: 'requested', id: run.id });
      expect(await cancel(run.id)).toEqual({ disposition: 'requested', id: run.id });
      expect(await actor.see(run.id)).toMatchObject({ leaseToken: run.lease.token, state: 'RUNNING' });
      expect(await actor.store.cancelsOf([bystander.lease, run.lease])).toEqual([run.lease]);
      expect(await actor.store.cancelsOf([])).toEqual([]);
    });

    it.each(ENDS)('R16: once it was asked for, %j ends the job as CANCELLED', async (settlement) => {
      const run = await running();
      await cancel(run.id);
      expect(await actor.end(run, settlement)).toBe('cancelled');
      const job = await actor.see(run.id);
      expect(job).toMatchObject({ deferred: false, leaseToken: null, losses: 0, refusal: null, state: 'CANCELLED' });
      expect(await actor.store.cancelsOf([run.lease])).toEqual([]);
      expect((await actor.add({ dedupeKey: 'key' }))[0]).toMatchObject({ disposition: 'created' });
    });

    it('R16: a completion that gets there wins, and what was asked for is over with it', async () => {
      const run = await running();
      await cancel(run.id);
      expect(await actor.end(run)).toBe(true);
      expect(await actor.see(run.id)).toMatchObject({ state: 'SUCCEEDED' });
      await reap();
      expect(await actor.store.cancelsOf([run.lease])).toEqual([]);
    });

    it('R16, R2: a lost lease is lost, whatever was asked for', async () => {
      const run = await running({ leaseMs: OVER_MS });
      await reap();
      const next = await actor.store.claimSuspect(order());
      await cancel(run.id);
      expect(await actor.end(run, { verb: 'cancel' })).toBe(false);
      expect(await actor.see(run.id)).toMatchObject({ leaseToken: next!.lease.token, state: 'RUNNING' });
      expect(await actor.store.cancelsOf([next!.lease])).toEqual([next!.lease]);
    });

    it.each([8, 1])('R16, Q12: a run that vanishes is reaped as CANCELLED, with %i attempts', async (maxAttempts) => {
      await actor.add({ maxAttempts });
      const run = await actor.claimOne({ leaseMs: OVER_MS });
      await cancel(run.id);
      expect(await reap()).toEqual({ cancelled: [{ id: run.id, kind: KIND }], deadLettered: [], returned: [] });
      expect(await actor.only()).toMatchObject({
        attempt: 1,
        failures: [{ attempt: 1, code: 'queue.lease_expired' }],
        leaseToken: null,
        state: 'CANCELLED',
        suspect: false,
      });
      expect(await reap()).toEqual({ cancelled: [], deadLettered: [], returned: [] });
    });

    it('R16, R5: a run that is given back unseen is cancelled by whoever reaps, of whatever kind', async () => {
      const run = await running();
      await cancel(run.id);
      expect(await actor.store.giveBackClaim(run.lease.token)).toBe(1);
      const result = await actor.store.reap(['another.kind'], 10);
      expect(result).toEqual({ cancelled: [{ id: run.id, kind: KIND }], deadLettered: [], returned: [] });
      expect(await actor.only()).toMatchObject({ attempt: 0, state: 'CANCELLED' });
    });

    it('R16, R3: a verdict does not take a cancelled run for its completion', async () => {
      const run = await running();
      await cancel(run.id);
      await actor.end(run, { verb: 'cancel' });
      expect(await actor.store.verdict(run.lease, run.attempt)).toBe('lost');
    });

    it('R16, Q6: an enqueue after the request is not satisfied by the run that will end, and makes the next job', async () => {
      const run = await running();
      await cancel(run.id);
      await actor.add({ dedupeKey: 'key', payloadJson: '{"n":2}' });
      await actor.intake();
      expect(await harness().inspect()).toHaveLength(1);
      await actor.end(run, { verb: 'cancel' });
      await actor.intake();
      expect(await actor.claimOne()).toMatchObject({ attempt: 1, payload: { n: 2 } });
    });

    it('R16, Q6: a request that waits for a run makes a new job, also where the run went back to PENDING unseen', async () => {
      const run = await running();
      await actor.add({ dedupeKey: 'key', whenRunning: 'rerun' });
      await actor.intake();
      await cancel(run.id);
      await actor.store.giveBackClaim(run.lease.token);
      await actor.intake();
      expect(await harness().inspect()).toHaveLength(1);
      await reap();
      await actor.intake();
      expect(await actor.see(run.id)).toMatchObject({ state: 'CANCELLED' });
      expect((await actor.claimOne()).id).not.toBe(run.id);
    });

    it('R16, Q6: and also where that job is claimed again before anybody saw it', async () => {
      const first = await running();
      await actor.add({ dedupeKey: 'key', whenRunning: 'rerun' });
      await actor.intake();
      await cancel(first.id);
      await actor.store.giveBackClaim(first.lease.token);
      const second = await actor.claimOne();
      await actor.intake();
      expect(await actor.store.cancelsOf([second.lease])).toEqual([second.lease]);
      expect(await actor.end(second, { verb: 'cancel' })).toBe('cancelled');
      await actor.intake();
      expect((await actor.claimOne()).id).not.toBe(first.id);
    });

    it('R16: cancels, completions, failures and reaping race for 300 running jobs: each ends once, as its answer says', async () => {
      await harness().store.enqueueNow(Array.from({ length: 300 }, () => request({ maxAttempts: 1 })));
      const rival = harness().another();
      try {
        const jobs = await actor.store.claim(order({ leaseMs: OVER_MS }));
        const parts = Array.from({ length: 20 }, (_, i) => jobs.slice(i * 15, i * 15 + 15));
        const settle = (part: ClaimedJob[], at: number) => {
          const settlement: Settlement =
            at % 2 === 0 ? { outcome: null, verb: 'complete' } : { failure: failure(), verb: 'bury' };
          return actor.store.settle(part.map(({ lease }) => ({ lease, settlement })));
        };
        const [settled, cancels, reaped] = await Promise.all([
          Promise.all(parts.map(settle)),
          Promise.all(jobs.map(({ id }) => rival.cancel(id))),
          Promise.all(parts.map(() => rival.reap([KIND], 15))),
        ]);
        const late = await rival.reap([KIND], 1_000);
        const states = new Map((await harness().inspect()).map(({ id, state }) => [id, state]));
        const endings = [...reaped, late];
        const dead = endings.flatMap(({ deadLettered }) => deadLettered.map(({ id }) => id));
        const cancelled = endings.flatMap((result) => result.cancelled.map(({ id }) => id));
        jobs.forEach(({ id }, at) => {
          const answer = settled.flat()[at];
          const state = states.get(id);
          const ends = [answer !== false, dead.includes(id), cancelled.includes(id)].filter(Boolean);
          expect(ends).toHaveLength(1);
          if (answer === 'cancelled') expect(state).toBe('CANCELLED');
          if (answer === true) expect(state).toBe(Math.floor(at / 15) % 2 === 0 ? 'SUCCEEDED' : 'DEAD_LETTER');
          if (dead.includes(id)) expect(state).toBe('DEAD_LETTER');
          if (cancelled.includes(id)) expect(state).toBe('CANCELLED');
          const asked = cancels[at]!;
          if (asked.disposition === 'final') expect(asked.state).toBe(state);
          else expect(asked.disposition).toBe('requested');
        });
        expect(await rival.cancelsOf(jobs.map(({ lease }) => lease))).toEqual([]);
      } finally {
        await rival.close();
      }
    });

    it('R16, Q11: cancels and claims race for 200 pending jobs: a job is cancelled, or runs and is asked', async () => {
      const answers = await harness().store.enqueueNow(Array.from({ length: 200 }, () => request({})));
      const rival = harness().another();
      try {
        const [claims, cancels] = await Promise.all([
          Promise.all(Array.from({ length: 20 }, () => actor.store.claim(order({ limit: 5 })))),
          Promise.all(answers.map(({ id }) => rival.cancel(id))),
        ]);
        const runs = new Map(claims.flat().map((job) => [job.id, job]));
        const asked = new Set(
          (await rival.cancelsOf([...runs.values()].map(({ lease }) => lease))).map((l) => l.jobId),
        );
        for (const [at, { id }] of answers.entries()) {
          const { disposition } = cancels[at]!;
          expect(disposition).toBe(runs.has(id) ? 'requested' : 'cancelled');
          expect(asked.has(id)).toBe(runs.has(id));
        }
      } finally {
        await rival.close();
      }
    });
  });
}
