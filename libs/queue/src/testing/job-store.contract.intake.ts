import { setTimeout as pause } from 'node:timers/promises';
import { failure, KIND, order, request, StoreActor, type JobStoreHarness } from './job-store.harness.js';

/** A loop beside a broken store ends too. */
const LOOPS_END_MS = 30_000;

/** intakeContract is what becomes of committed requests. */
export function intakeContract(harness: () => JobStoreHarness): void {
  const actor = new StoreActor(harness);
  const application = () => harness().application!;
  const dedupeKey = 'key';
  /** ask appends requests without looking, as a SERIALIZABLE caller does. */
  const append = async (...changes: Parameters<StoreActor['add']>) => {
    const open = await application().begin({ isolation: 'SERIALIZABLE' });
    const requests = changes.map((change) => request({ dedupeKey, ...change }));
    const answers = await actor.store.enqueueMany(requests, application().executor(open.transaction));
    await open.commit();
    return answers;
  };

  describe('intake', () => {
    it('Q7: the oldest request of a key becomes the job, the others join it, and every answer leads to it', async () => {
      const answers = await append(
        { dueInMs: 60_000, priority: 3 },
        { dueInMs: 30_000, priority: 1 },
        { dueInMs: 90_000 },
      );
      expect(await actor.store.intake(100)).toEqual({ created: 1, merged: 2, more: false, waiting: 0 });
      const job = await actor.only();
      expect(job.id).toBe(answers[0]!.id);
      expect(job.dueInMs).toBeLessThanOrEqual(30_000);
      for (const { id } of answers) expect(await application().resolve(id)).toBe(job.id);
    });

    it('Q7: requests that wait for one run are folded into one, whatever the order in which they come', async () => {
      await actor.add({ dedupeKey });
      const run = await actor.claimOne();
      const answers = [];
      for (let i = 0; i < 4; i++) {
        answers.push(
          ...(await append({ dueInMs: 60_000 - i }, { payloadJson: `{"n":${i}}`, replacePayload: i === 2 })),
        );
        await actor.intake();
        expect(await application().requests()).toBe(1);
      }
      await actor.end(run);
      expect(await actor.store.intake(100)).toMatchObject({ created: 1, merged: 0, waiting: 0 });
      const next = await actor.claimOne();
      expect(next.payload).toEqual({ n: 2 });
      for (const { id } of answers) expect(await application().resolve(id)).toBe(next.id);
      expect(await application().requests()).toBe(0);
    });

    it('Q7: a request that waited for a run is satisfied by the run that came after it', async () => {
      await actor.add({ dedupeKey });
      const first = await actor.claimOne();
      const [asked] = await append({});
      await actor.intake();
      await actor.end(first, { delayMs: 0, failure: failure(), verb: 'retry' });
      const second = await actor.claimOne();
      await actor.intake();
      expect(await application().requests()).toBe(0);
      expect(await application().resolve(asked!.id)).toBe(second.id);
      await actor.end(second);
      expect(await actor.only()).toMatchObject({ attempt: 2, state: 'SUCCEEDED' });
    });

    it('R11: a held run satisfies no request, however old its snapshot', async () => {
      await actor.add({ dedupeKey });
      const run = await actor.claimOne();
      const old = await application().begin({ isolation: 'REPEATABLE READ' });
      await old.transaction.sql.query('SELECT 1');
      await actor.store.hold(run.lease);
      await actor.store.enqueue(request({ dedupeKey }), application().executor(old.transaction));
      await old.commit();
      await actor.intake();
      await actor.end(run);
      await actor.intake();
      expect((await harness().inspect()).map(({ state }) => state)).toEqual(['SUCCEEDED', 'PENDING']);
    });

    it('Q7: requests of a key that a transaction keeps are walked past, and the others are not kept waiting', async () => {
      const keeps = await application().begin();
      await actor.store.enqueue(request({ dedupeKey: 'kept' }), application().executor(keeps.transaction));
      await append(...Array.from({ length: 50 }, () => ({ dedupeKey: 'kept' })), { dedupeKey: 'free' });
      expect(await actor.store.intake(10)).toMatchObject({ created: 1, merged: 0, more: false });
      await keeps.commit();
      await actor.intake();
      expect(await harness().inspect()).toHaveLength(2);
      expect(await application().requests()).toBe(0);
    });

    it('Q7: a pending job that is locked in this moment is left for the next intake', async () => {
      await actor.add({ dedupeKey, dueInMs: 60_000 });
      await append({});
      const locks = await application().begin();
      await locks.transaction.sql.query('SELECT FROM holdfast.job FOR UPDATE');
      expect(await actor.store.intake(10)).toMatchObject({ created: 0, merged: 0, more: false });
      await locks.rollback();
      expect(await actor.store.intake(10)).toMatchObject({ created: 0, merged: 1 });
      expect((await actor.only()).dueInMs).toBeLessThanOrEqual(0);
    });

    it('Q7: thousands of requests on one key, and thousands of keys, by batches', async () => {
      await append(...Array.from({ length: 2_500 }, () => ({})));
      expect(await actor.store.intake(200)).toEqual({ created: 1, merged: 199, more: true, waiting: 0 });
      await actor.intake();
      expect(await harness().inspect()).toHaveLength(1);
      await append(...Array.from({ length: 2_500 }, (_, i) => ({ dedupeKey: `key-${i}` })));
      const first = await actor.store.intake(1_000);
      expect(first).toMatchObject({ merged: 0, more: true });
      // Each key takes a slot of the lock table that all sessions share, so one intake takes no more than some hundreds.
      expect(first.created).toBeLessThanOrEqual(200);
      await actor.intake();
      expect(await harness().inspect()).toHaveLength(2_501);
      expect(await application().requests()).toBe(0);
    });

    it('Q7: four intakes and ten callers at once lose nothing, double nothing and raise nothing', async () => {
      const stores = Array.from({ length: 4 }, () => harness().another());
      let calling = true;
      const end = performance.now() + LOOPS_END_MS;
      const takeIn = async (store: (typeof stores)[number]) => {
        while (calling && performance.now() < end) {
          await store.intake(50);
          const jobs = await store.claim(order({ limit: 20 }));
          await store.settle(jobs.map(({ lease }) => ({ lease, settlement: { outcome: null, verb: 'complete' } })));
        }
      };
      const call = async (caller: number) => {
        for (let i = 0; i < 40; i++) {
          const open = await application().begin({
            acquireTimeoutMs: 30_000,
            isolation: i % 4 ? 'READ COMMITTED' : 'REPEATABLE READ',
          });
          await actor.store.enqueue(
            request({ dedupeKey: `key-${i % 7}`, whenRunning: 'rerun' }),
            application().executor(open.transaction),
          );
          if (i % 5 === caller % 5) await open.rollback();
          else await open.commit();
        }
      };
      try {
        const takers = Promise.all(stores.map(takeIn));
        await Promise.all(Array.from({ length: 10 }, (_, i) => call(i))).finally(() => (calling = false));
        await takers;
        await actor.intake();
        expect(await application().requests()).toBe(0);
        const open = (await harness().inspect()).filter(({ state }) => state === 'PENDING' || state === 'RUNNING');
        expect(open.length).toBeLessThanOrEqual(7);
      } finally {
        await Promise.all(stores.map((store) => store.close()));
      }
    });

    it('K19: ten workers, ten keys, four callers: each enqueue names a job, and after the last of each key a run starts', async () => {
      const keys = Array.from({ length: 10 }, (_, i) => `key-${i}`);
      const store = harness().another();
      const startedAt = new Map<string, bigint>();
      let calling = true;
      const end = performance.now() + LOOPS_END_MS;
      const left = async () => calling || (await application().requests()) > 0;
      const work = async () => {
        while ((await left()) && performance.now() < end) {
          await store.intake(100);
          const jobs = await store.claim(order({ limit: 1 }));
          for (const job of jobs) {
            startedAt.set((job.payload as { key: string }).key, process.hrtime.bigint());
            await pause(2);
            await store.settle([{ lease: job.lease, settlement: { outcome: null, verb: 'complete' } }]);
          }
        }
      };
      const lastAsked = new Map<string, bigint>();
      const call = async () => {
        for (let i = 0; i < 100; i++) {
          const key = keys[i % keys.length]!;
          // Before the call: a run may start between the commit and the answer.
          lastAsked.set(key, process.hrtime.bigint());
          const [answer] = await actor.add({
            dedupeKey: key,
            payloadJson: JSON.stringify({ key }),
            whenRunning: 'rerun',
          });
          expect(answer!.id).toMatch(/^\d+$/);
        }
      };
      try {
        const workers = Promise.all(Array.from({ length: 10 }, work));
        await Promise.all(Array.from({ length: 4 }, call)).finally(() => (calling = false));
        await workers;
        for (let rest = await store.claim(order()); rest.length > 0; rest = await store.claim(order()))
          for (const job of rest) {
            startedAt.set((job.payload as { key: string }).key, process.hrtime.bigint());
            await store.settle([{ lease: job.lease, settlement: { outcome: null, verb: 'complete' } }]);
          }
        for (const key of keys) expect(startedAt.get(key)! > lastAsked.get(key)!).toBe(true);
      } finally {
        await store.close();
      }
    });

    it('K21: work of one key never overlaps: what is asked while it runs starts after its end, and its retry meets no other', async () => {
      await actor.add({ dedupeKey });
      const [processA, processB] = [harness().another(), harness().another()];
      try {
        const [run] = await processA.claim(order());
        await actor.add({ dedupeKey, whenRunning: 'rerun' });
        await processB.intake(10);
        expect(await processB.claim(order())).toEqual([]);
        await processA.settle([{ lease: run!.lease, settlement: { delayMs: 0, failure: failure(), verb: 'retry' } }]);
        await processB.intake(10);
        const jobs = await processB.claim(order());
        expect(jobs).toHaveLength(1);
        expect(jobs[0]).toMatchObject({ attempt: 2, id: run!.id, kind: KIND });
        await processA.intake(10);
        expect(await processA.claim(order())).toEqual([]);
        expect(await harness().inspect()).toHaveLength(1);
      } finally {
        await Promise.all([processA.close(), processB.close()]);
      }
    });
  });
}
