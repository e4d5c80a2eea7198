import { type AnyJobDefinition, defineJob } from '../domain/definition.js';
import { type EndedJob, endingsOf } from '../domain/on-end.js';
import { type } from '../domain/payload.schema.js';
import type { Settlement } from '../domain/settlement.js';
import type { ClaimedJob } from '../ports/job-store.js';
import { failure, KIND, order, OVER_MS, StoreActor, type JobStoreHarness } from './job-store.harness.js';

const payload = type<EndedJob>();
const Buried = defineJob('contract.buried', { maxAttempts: 3, payload, priority: 2, version: 4 });
const Refused = defineJob('contract.refused', { payload });
const Cancelled = defineJob('contract.cancelled', { maxAttempts: 'unlimited', payload });
const Ends = defineJob(KIND, {
  onEnd: { cancelled: Cancelled, deadLetter: Buried, refused: Refused },
  payload: type<object>(),
});
const FOLLOW_UPS = [Buried, Refused, Cancelled];

const ENDS: [Settlement, typeof Buried | undefined, string | null][] = [
  [{ failure: failure(1, 'test.gone'), verb: 'bury' }, Buried, 'test.gone'],
  [{ delayMs: 0, failure: failure(1, 'test.last'), verb: 'retry' }, Buried, 'test.last'],
  [{ code: 'test.refused', params: null, verb: 'refuse' }, Refused as never, 'test.refused'],
  [{ verb: 'cancel' }, Cancelled as never, null],
  [{ outcome: null, verb: 'complete' }, undefined, null],
  [{ delayMs: 0, outcome: null, verb: 'repeat' }, undefined, null],
  [{ delayMs: 0, failure: failure(), verb: 'defer' }, undefined, null],
  [{ verb: 'giveBack' }, undefined, null],
];

/** endingsContract is which jobs follow on the ends of others. */
export function endingsContract(harness: () => JobStoreHarness): void {
  const actor = new StoreActor(harness);
  const followUps = (): Promise<ClaimedJob[]> =>
    actor.store.claim(
      order({ kinds: FOLLOW_UPS.map(({ kind }) => ({ kind, leaseMs: 60_000, limit: 100 })), owner: 'follows' }),
    );
  const declare = (definition: AnyJobDefinition) =>
    actor.store.declareEndings([definition.kind], endingsOf(definition));

  describe('what follows on the end of a job', () => {
    beforeEach(() => declare(Ends));
    afterEach(() => actor.store.declareEndings([KIND], []));

    it.each(ENDS)('R14: %j', async (settlement, followUp, code) => {
      await actor.add({ maxAttempts: 1, payloadJson: '{"order":7}', payloadVersion: 3, tenantId: 'a' });
      const run = await actor.claimOne();
      await actor.end(run, settlement);
      const jobs = await followUps();
      expect(jobs).toHaveLength(followUp ? 1 : 0);
      if (!followUp) return;
      const { state } = await actor.see(run.id);
      expect(jobs[0]).toMatchObject({
        attempt: 1,
        kind: followUp.kind,
        maxAttempts: followUp.maxAttempts,
        payload: { code, jobId: run.id, kind: KIND, payload: { order: 7 }, payloadVersion: 3, state },
        payloadVersion: followUp.version,
        priority: followUp.priority,
        tenantId: 'a',
      });
      expect(await actor.end(run, settlement)).toBe(false);
      expect(await followUps()).toEqual([]);
    });

    it('R14, Q12: the reaper is no less than a settlement, and ends once', async () => {
      await actor.add({ maxAttempts: 1 }, { maxAttempts: 8 });
      const [dies, asked] = await actor.store.claim(
        order({ kinds: [{ kind: KIND, leaseMs: OVER_MS, limit: 10 }], limit: 10 }),
      );
      await actor.store.cancel(asked!.id);
      await Promise.all([1, 2, 3].map(() => actor.store.reap([KIND], 10)));
      await actor.store.reap([KIND], 10);
      const jobs = await followUps();
      expect(
        jobs.map(({ kind, payload: ended }) => [kind, (ended as EndedJob).jobId, (ended as EndedJob).code]),
      ).toEqual(
        expect.arrayContaining([
          [Buried.kind, dies!.id, 'queue.attempts_exhausted'],
          [Cancelled.kind, asked!.id, null],
        ]),
      );
      expect(jobs).toHaveLength(2);
    });

    it('R14, R16: a pending job that is cancelled by a process that has never heard of its kind', async () => {
      const [pending] = await actor.add({});
      const stranger = harness().another();
      try {
        await stranger.cancel(pending!.id);
        await stranger.cancel(pending!.id);
      } finally {
        await stranger.close();
      }
      expect(await followUps()).toMatchObject([
        { kind: Cancelled.kind, payload: { jobId: pending!.id, state: 'CANCELLED' } },
      ]);
    });

    it('R14: what a definition no longer says is taken back; other kinds keep theirs', async () => {
      const Other = defineJob('contract.other', { onEnd: { refused: Refused }, payload: type<object>() });
      await declare(Other);
      await declare(defineJob(KIND, { onEnd: { refused: Refused }, payload: type<object>() }));
      await actor.add({}, { kind: Other.kind });
      await actor.end(await actor.claimOne(), { failure: failure(), verb: 'bury' });
      await actor.end(await actor.claimOne({ kind: Other.kind }), { code: 'no', params: null, verb: 'refuse' });
      await actor.store.declareEndings([Other.kind], []);
      expect(await followUps()).toMatchObject([{ kind: Refused.kind, payload: { kind: Other.kind } }]);
    });
  });
}
