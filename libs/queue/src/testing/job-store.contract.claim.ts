import { randomUUID } from 'node:crypto';
import { KIND, order, request, StoreActor, type JobStoreHarness } from './job-store.harness.js';

/** claimContract is what a claim takes, and what it leaves. */
export function claimContract(harness: () => JobStoreHarness): void {
  const actor = new StoreActor(harness);

  describe('claim', () => {
    it('takes a due job under a lease: RUNNING, attempt 1, and what was asked for', async () => {
      const [asked] = await actor.add({
        payloadJson: '{"deep":{"é":[1,null]}}',
        payloadVersion: 3,
        priority: 2,
        tenantId: 't1',
      });
      const token = randomUUID();
      const [job] = await actor.store.claim(order({ leaseMs: 45_000, token }));
      expect(job).toMatchObject({
        attempt: 1,
        deferredMs: null,
        id: asked!.id,
        kind: KIND,
        lease: { jobId: asked!.id, token },
        leaseMs: 45_000,
        losses: 0,
        maxAttempts: 8,
        payload: { deep: { é: [1, null] } },
        payloadVersion: 3,
        priority: 2,
        suspect: false,
        tenantId: 't1',
      });
      expect(job!.waitedMs).toBeGreaterThanOrEqual(0);
      expect(job!.waitedMs).toBeLessThan(60_000);
      expect(Math.abs(Date.now() - job!.createdAt.getTime())).toBeLessThan(60_000);
      expect(await actor.only()).toMatchObject({ leaseToken: token, state: 'RUNNING' });
    });

    it('Q11: six claimers at once share 5,000 jobs and take each of them once', async () => {
      for (let i = 0; i < 5; i++) await harness().store.enqueueNow(Array.from({ length: 1_000 }, () => request()));
      const stores = Array.from({ length: 6 }, () => harness().another());
      try {
        const takeAll = async (store: (typeof stores)[number], limit: number) => {
          const taken: string[] = [];
          for (let looks = 0; looks < 1_000; looks++) {
            const jobs = await store.claim(order({ fullLook: false, limit }));
            if (jobs.length === 0 && (await store.claim(order({ limit: 1 }))).length === 0) return taken;
            taken.push(...jobs.map(({ id }) => id));
            await store.settle(jobs.map(({ lease }) => ({ lease, settlement: { outcome: null, verb: 'complete' } })));
          }
          return taken;
        };
        const taken = (await Promise.all(stores.map((store, i) => takeAll(store, 20 + i)))).flat();
        const probed = (await harness().inspect()).filter(({ state }) => state === 'RUNNING').length;
        expect(new Set(taken).size).toBe(taken.length);
        expect(taken.length + probed).toBe(5_000);
      } finally {
        await Promise.all(stores.map((store) => store.close()));
      }
    });

    it('Q11: never takes more than the limit, of a kind nor of all', async () => {
      await actor.add(
        ...['a', 'b', 'c'].flatMap((kind) => Array.from({ length: 10 }, (_, i) => ({ kind, priority: i }))),
      );
      const kinds = [
        { kind: 'a', leaseMs: 1_000, limit: 3 },
        { kind: 'b', leaseMs: 1_000, limit: 0 },
        { kind: 'c', leaseMs: 1_000, limit: 4 },
      ];
      const count = async (limit: number) =>
        (await actor.store.claim(order({ kinds, limit }))).map(({ kind }) => kind).join('');
      expect(await count(0)).toBe('');
      expect(await count(5)).toBe('aaacc');
      expect(await count(100)).toBe('aaacccc');
      expect(await actor.store.claim(order({ kinds: [] }))).toEqual([]);
    });

    it('Q11: leaves what is not due, and what is of a kind that nobody here handles, untouched and reported', async () => {
      await actor.add(
        { dueInMs: 60_000 },
        { kind: 'stranger' },
        { dueAt: new Date(Date.now() + 3_600_000).toISOString() },
      );
      expect(await actor.store.claim(order())).toEqual([]);
      expect(await actor.store.unknownKinds([KIND])).toEqual(['stranger']);
      expect(await actor.store.unknownKinds([KIND, 'stranger'])).toEqual([]);
      for (const job of await harness().inspect()) expect(job).toMatchObject({ attempt: 0, state: 'PENDING' });
    });

    it('Q14: takes by priority, then by due moment, then by id; kinds in the order given', async () => {
      const at = (ms: number) => new Date(Date.now() - ms).toISOString();
      const same = at(5_000);
      const ids = (
        await actor.add(
          { dueAt: at(1_000), priority: 5 },
          { dueAt: same, priority: 5 },
          { dueAt: same, priority: 5 },
          { dueAt: at(100), priority: 0 },
          { dueAt: at(9_000), priority: 9 },
          { kind: 'first', priority: 9 },
        )
      ).map(({ id }) => id);
      const kinds = ['first', KIND].map((kind) => ({ kind, leaseMs: 1_000, limit: 10 }));
      const jobs = [
        ...(await actor.store.claim(order({ kinds, limit: 2 }))),
        ...(await actor.store.claim(order({ kinds }))),
      ];
      expect(jobs.map(({ id }) => ids.indexOf(id))).toEqual([5, 3, 1, 2, 0, 4]);
    });

    it('Q14: a full look finds what came behind the place where quick looks start', async () => {
      await actor.add({ dueAt: new Date(Date.now() - 10_000).toISOString() });
      await actor.claimOne();
      await actor.add({ dueAt: new Date(Date.now() - 3_600_000).toISOString() });
      expect(await actor.store.claim(order({ fullLook: true }))).toHaveLength(1);
    });

    it('a quick look takes what is enqueued after it', async () => {
      for (let i = 0; i < 20; i++) {
        await actor.add({});
        expect(await actor.store.claim(order({ fullLook: false }))).toHaveLength(1);
      }
    });

    it('S2: depth counts what is due, by kind, the kinds asked for at zero too', async () => {
      await actor.add({}, { priority: 0 }, { dueInMs: 60_000 }, { kind: 'stranger' });
      const depth = await actor.store.depth([KIND, 'empty']);
      expect(Object.fromEntries(depth.map(({ due, kind }) => [kind, due]))).toEqual({
        [KIND]: 2,
        empty: 0,
        stranger: 1,
      });
      for (const { oldestDueAgeMs } of depth) expect(oldestDueAgeMs).toBeGreaterThanOrEqual(0);
    });
  });
}
