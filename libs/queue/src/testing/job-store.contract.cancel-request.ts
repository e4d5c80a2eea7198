import { JobBusyError } from '../errors/job-busy.error.js';
import { failure, order, request, StoreActor, type JobStoreHarness } from './job-store.harness.js';

/** cancelRequestContract is what becomes of requests that are no jobs yet, or wait, when somebody cancels. */
export function cancelRequestContract(harness: () => JobStoreHarness): void {
  const actor = new StoreActor(harness);
  const application = () => harness().application!;
  const dedupeKey = 'key';
  const begin = (isolation: 'READ COMMITTED' | 'REPEATABLE READ' | 'SERIALIZABLE') =>
    application().begin({ isolation });
  /** append appends requests without looking, as a SERIALIZABLE caller does. */
  const append = async (...changes: Parameters<StoreActor['add']>) => {
    const open = await begin('SERIALIZABLE');
    const requests = changes.map((change) => request({ dedupeKey, ...change }));
    const answers = await actor.store.enqueueMany(requests, application().executor(open.transaction));
    await open.commit();
    return answers.map(({ id }) => id);
  };

  describe('cancel of requests', () => {
    it('R16: a request that is no job yet ends as a CANCELLED job of its id, with all that would have joined it', async () => {
      const [first, second] = await append({ dueInMs: 60_000, priority: 3 }, { payloadJson: '{"n":2}' });
      expect(await actor.store.cancel(second!)).toEqual({ disposition: 'cancelled', id: second });
      expect(await actor.only()).toMatchObject({ attempt: 0, id: second, payload: { n: 2 }, state: 'CANCELLED' });
      expect(await application().resolve(first!)).toBe(second);
      expect(await application().requests()).toBe(0);
      expect(await actor.store.intake(100)).toMatchObject({ created: 0, merged: 0 });
    });

    it('R16: a request of another key, tenant or kind is left alone', async () => {
      const [one] = await append({});
      await append({ dedupeKey: 'other' }, { tenantId: 'a' }, { kind: 'other.kind' });
      expect(await actor.store.cancel(one!, { tenantId: 'a' })).toEqual({ disposition: 'not_found' });
      await actor.store.cancel(one!);
      expect(await actor.store.intake(100)).toMatchObject({ created: 3 });
    });

    it('R16: committed requests that intake has not seen are cancelled with the pending job that they would have joined', async () => {
      const [pending] = await actor.add({ dedupeKey });
      await actor.add({ dedupeKey });
      const [asked] = await append({});
      expect(await actor.store.cancel(pending!.id)).toEqual({ disposition: 'cancelled', id: pending!.id });
      expect(await application().requests()).toBe(0);
      expect(await application().resolve(asked!)).toBe(pending!.id);
      expect(await actor.store.intake(100)).toMatchObject({ created: 0 });
    });

    it('R16: a request is cancelled as the pending job that it would have joined, or has joined', async () => {
      const [pending] = await actor.add({ dedupeKey });
      const [early] = await append({});
      await actor.intake();
      const [late] = await append({});
      expect(await actor.store.cancel(late!)).toEqual({ disposition: 'cancelled', id: pending!.id });
      for (const id of [early!, late!])
        expect(await actor.store.cancel(id)).toEqual({ disposition: 'final', id: pending!.id, state: 'CANCELLED' });
    });

    it('R16, Q4: work that commits after the cancel is covered by a new job', async () => {
      const [pending] = await actor.add({ dedupeKey });
      const open = await begin('READ COMMITTED');
      const executor = application().executor(open.transaction);
      const [asked] = await actor.store.enqueueMany([request({ dedupeKey })], executor);
      expect(asked).toMatchObject({ disposition: 'existing', id: pending!.id });
      await actor.store.cancel(pending!.id);
      await open.commit();
      await actor.intake();
      expect((await actor.claimOne()).id).not.toBe(pending!.id);
    });

    it('R16, Q6: a request that waits for a run is cancelled alone, and the run goes on', async () => {
      await actor.add({ dedupeKey });
      const run = await actor.claimOne();
      const [waiting, folded] = [...(await append({})), ...(await append({}))];
      await actor.intake();
      expect(await application().requests()).toBe(1);
      expect(await actor.store.cancel(folded!)).toEqual({ disposition: 'cancelled', id: waiting });
      expect(await actor.see(waiting!)).toMatchObject({ state: 'CANCELLED' });
      expect(await actor.store.cancelsOf([run.lease])).toEqual([]);
      expect(await actor.end(run)).toBe(true);
      expect(await actor.store.intake(100)).toMatchObject({ created: 0 });
    });

    it('R16, Q6: a request that a running job satisfies stays satisfied when another is cancelled', async () => {
      await actor.add({ dedupeKey });
      const run = await actor.claimOne();
      const open = await begin('REPEATABLE READ');
      await actor.store.enqueueMany([request({ dedupeKey })], application().executor(open.transaction));
      await open.commit();
      const [waiting] = await append({});
      expect(await actor.store.cancel(waiting!)).toEqual({ disposition: 'cancelled', id: waiting });
      expect(await application().requests()).toBe(1);
      expect(await actor.store.intake(100)).toMatchObject({ created: 0, merged: 1 });
      await actor.end(run);
    });

    it('R16: a retry that waits takes its requests with it', async () => {
      await actor.add({ dedupeKey });
      const run = await actor.claimOne();
      await append({});
      await actor.intake();
      await actor.end(run, { delayMs: 60_000, failure: failure(), verb: 'retry' });
      expect(await actor.store.cancel(run.id)).toEqual({ disposition: 'cancelled', id: run.id });
      expect(await application().requests()).toBe(0);
    });

    it('R16: an enqueue in the same transaction is cancelled by nobody else: it is not there yet', async () => {
      const open = await begin('READ COMMITTED');
      const { id } = await actor.store.enqueue(request(), application().executor(open.transaction));
      expect(await actor.store.cancel(id)).toEqual({ disposition: 'not_found' });
      await open.commit();
      expect(await actor.store.cancel(id)).toMatchObject({ disposition: 'cancelled' });
    });

    it('R16: an open transaction that holds the key keeps a cancel for no longer than seconds, and it changes nothing', async () => {
      const open = await begin('READ COMMITTED');
      await actor.store.enqueueMany([request({ dedupeKey })], application().executor(open.transaction));
      const [asked] = await append({});
      await expect(actor.store.cancel(asked!)).rejects.toBeInstanceOf(JobBusyError);
      expect(await application().requests()).toBe(1);
      await open.commit();
      expect(await actor.store.cancel(asked!)).toMatchObject({ disposition: 'cancelled' });
      expect(await actor.store.claim(order())).toEqual([]);
    });

    it('R16, Q7: cancels, enqueues, intakes and claims of one key race: every answer is true, and nothing is lost but what was cancelled', async () => {
      const rival = harness().another();
      try {
        const rounds = Array.from({ length: 40 }, (_, n) => n);
        const runs: string[] = [];
        const cancelled = new Set<string>();
        const asked = new Map<string, string>();
        await Promise.all([
          ...rounds.map(async (n) => {
            const [answer] = await actor.add({ dedupeKey, whenRunning: 'rerun', payloadJson: `{"n":${n}}` });
            const job = await rival.cancel(answer!.id);
            expect(job.disposition).not.toBe('not_found');
            if (job.disposition === 'cancelled') cancelled.add(job.id);
            if (job.disposition === 'requested') asked.set(answer!.id, job.id);
          }),
          ...rounds.map(() => rival.intake(50)),
          ...rounds.map(async () => {
            for (const job of await actor.store.claim(order({ limit: 1 }))) {
              runs.push(job.id);
              await actor.end(job, { verb: 'cancel' });
            }
          }),
        ]);
        for (let round = 0; round < 100; round++) {
          await actor.intake();
          await rival.reap([request().kind], 100);
          const left = await actor.store.claim(order());
          for (const job of left) await actor.end(job);
          if (left.length === 0 && (await application().requests()) === 0) break;
        }
        expect(await application().requests()).toBe(0);
        const states = new Map((await harness().inspect()).map(({ id, state }) => [id, state]));
        for (const id of cancelled) expect(states.get(id)).toBe('CANCELLED');
        for (const id of runs) expect(cancelled).not.toContain(id);
        expect([...states.values()].filter((state) => state === 'PENDING' || state === 'RUNNING')).toEqual([]);
      } finally {
        await rival.close();
      }
    });
  });
}
