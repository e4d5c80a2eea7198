import { failure, order, request, StoreActor, type JobStoreHarness } from './job-store.harness.js';

/** dedupeContract is what a key means among live jobs, seen from one caller after another. */
export function dedupeContract(harness: () => JobStoreHarness): void {
  const actor = new StoreActor(harness);
  const dedupeKey = 'key';
  const ask = async (changes: Parameters<StoreActor['add']>[0] = {}) =>
    (await actor.add({ dedupeKey, ...changes }))[0]!;
  const past = (ms: number) => new Date(Date.now() - ms).toISOString();

  describe('key', () => {
    it('Q4: is unique per kind, tenant and key among live jobs; no tenant is a tenant of its own; no key never collides', async () => {
      const scopes = [
        {},
        { tenantId: 'a' },
        { tenantId: 'b' },
        { kind: 'other' },
        { dedupeKey: 'KEY' },
        { dedupeKey: 'key ' },
      ];
      const first = await Promise.all(scopes.map((scope) => ask(scope)));
      expect(first.map(({ disposition }) => disposition)).toEqual(scopes.map(() => 'created'));
      const second = await Promise.all(scopes.map((scope) => ask(scope)));
      expect(second).toEqual(first.map(({ id }) => ({ disposition: 'existing', id, payloadDiffers: false })));
      const free = await actor.add({}, {});
      expect(new Set(free.map(({ id }) => id)).size).toBe(2);
      await actor.intake();
      expect(await harness().inspect()).toHaveLength(scopes.length + 2);
    });

    it('ensure: writes what has no live job, once, and leaves the others as they are, running or not', async () => {
      const later = { dedupeKey: 'later', dueInMs: 3_600_000 };
      const wanted = [request({ dedupeKey }), request(later), request({ dedupeKey, tenantId: 'a' })];
      const first = await Promise.all([actor.store.ensure(wanted), actor.store.ensure(wanted)]);
      expect(first[0] + first[1]).toBe(3);
      await actor.store.claim(order({ limit: 1 }));
      const before = await harness().inspect();
      const again = wanted.map((one) => ({
        ...one,
        dueInMs: null,
        payloadJson: '{"n":2}',
        whenRunning: 'rerun' as const,
      }));
      expect(await actor.store.ensure(again)).toBe(0);
      await actor.intake();
      const states = (jobs: typeof before) => jobs.map(({ id, payload, state }) => ({ id, payload, state }));
      expect(states(await harness().inspect())).toEqual(states(before));
      expect((await harness().inspect()).map(({ dueInMs }) => dueInMs > 3_000_000).sort()).toEqual([
        false,
        false,
        true,
      ]);
    });

    it('Q4: is free once its job is final, however it ended', async () => {
      const ends = [
        { outcome: null, verb: 'complete' },
        { code: 'no.more', params: null, verb: 'refuse' },
        { failure: failure(), verb: 'bury' },
      ] as const;
      for (const settlement of ends) {
        expect(await ask()).toMatchObject({ disposition: 'created' });
        await actor.end(await actor.claimOne(), settlement);
      }
      expect(await harness().inspect()).toHaveLength(3);
    });

    it('Q5: against a pending job the earlier moment wins, a later request never delays it', async () => {
      await ask({ dueInMs: 600_000 });
      await ask({ dueInMs: 900_000 });
      await actor.intake();
      expect((await actor.only()).dueInMs).toBeGreaterThan(500_000);
      await ask({ dueInMs: 60_000 });
      await actor.intake();
      const { dueInMs } = await actor.only();
      expect(dueInMs).toBeGreaterThan(50_000);
      expect(dueInMs).toBeLessThanOrEqual(60_000);
    });

    it.each(['retry', 'defer'] as const)('Q5: a job that waits out a %s keeps its moment', async (verb) => {
      await ask();
      await actor.end(await actor.claimOne(), { delayMs: 600_000, failure: failure(), verb });
      expect(await ask()).toMatchObject({ disposition: 'existing' });
      await actor.intake();
      expect((await actor.only()).dueInMs).toBeGreaterThan(500_000);
    });

    it('Q5: the first payload, priority and attempts stay, and the answer says when the payload differs', async () => {
      await ask({ dueInMs: 60_000, maxAttempts: 3, priority: 4 });
      expect(await ask({ maxAttempts: 9, payloadJson: '{"n":2}', priority: 0 })).toMatchObject({
        payloadDiffers: true,
      });
      await actor.intake();
      expect(await actor.claimOne()).toMatchObject({ maxAttempts: 3, payload: { n: 1 }, priority: 4 });
    });

    it('Q5: replace puts the last such payload into a pending job, and only there', async () => {
      await ask({ dueInMs: 60_000 });
      await ask({ dueInMs: 600_000, payloadJson: '{"n":2}', payloadVersion: 2, replacePayload: true });
      await ask({ dueInMs: 600_000, payloadJson: '{"n":3}', payloadVersion: 3, replacePayload: true });
      await ask({ payloadJson: '{"n":4}' });
      await actor.intake();
      expect(await actor.claimOne()).toMatchObject({ payload: { n: 3 }, payloadVersion: 3 });
      await ask({ payloadJson: '{"n":5}', replacePayload: true });
      expect((await actor.only()).payload).toEqual({ n: 3 });
    });

    it('Q6: merge: a run that was already running satisfies the request and is the answer', async () => {
      const { id } = await ask();
      const job = await actor.claimOne();
      expect(await ask({ payloadJson: '{"n":2}' })).toEqual({ disposition: 'existing', id, payloadDiffers: true });
      await actor.intake();
      await actor.end(job);
      await actor.intake();
      expect(await actor.only()).toMatchObject({ state: 'SUCCEEDED' });
    });

    it.each([
      ['complete', { outcome: null, verb: 'complete' }, 2],
      ['refuse', { code: 'no.more', params: null, verb: 'refuse' }, 2],
      ['bury', { failure: failure(), verb: 'bury' }, 2],
      ['repeat', { delayMs: 600_000, outcome: null, verb: 'repeat' }, 1],
    ] as const)(
      'Q6: rerun: the request waits and becomes, or pulls forward, a job when that run ends by %s',
      async (_verb, settlement, jobs) => {
        const first = await ask();
        const run = await actor.claimOne();
        const asked = await ask({ whenRunning: 'rerun' });
        expect(asked).toMatchObject({ disposition: 'existing', id: first.id });
        await actor.intake();
        expect(await actor.store.intake(100)).toMatchObject({ created: 0, more: false });
        await actor.end(run, settlement);
        await actor.intake();
        expect(await harness().inspect()).toHaveLength(jobs);
        await actor.end(await actor.claimOne());
        await actor.intake();
        expect((await harness().inspect()).filter(({ state }) => state === 'PENDING')).toEqual([]);
      },
    );

    it('R11: after hold no enqueue is satisfied by the run; it pulls forward the row that the run leaves', async () => {
      await ask();
      const run = await actor.claimOne();
      expect(await actor.store.hold(run.lease)).toBe(true);
      await ask({ whenRunning: 'merge' });
      await actor.intake();
      await actor.end(run, { delayMs: 600_000, outcome: null, verb: 'repeat' });
      await actor.intake();
      expect((await actor.only()).dueInMs).toBeLessThanOrEqual(0);
      expect(await actor.store.hold(run.lease)).toBe(false);
    });

    it('R11: a hold ends with its run', async () => {
      await ask();
      const run = await actor.claimOne();
      await actor.store.hold(run.lease);
      await actor.end(run, { delayMs: 0, outcome: null, verb: 'repeat' });
      const next = await actor.claimOne();
      await ask();
      await actor.intake();
      await actor.end(next);
      await actor.intake();
      expect(await actor.only()).toMatchObject({ state: 'SUCCEEDED' });
    });

    it('K29: six requests with other data and moments while waiting, running and waiting for a retry: nothing is later than asked', async () => {
      const moments = [60_000, 30_000, 90_000, 10_000, 50_000, 20_000];
      for (const dueInMs of moments) await ask({ dueInMs, payloadJson: `{"in":${dueInMs}}` });
      await actor.intake();
      expect((await actor.only()).dueInMs).toBeLessThanOrEqual(10_000);
      await ask({ dueAt: past(1) });
      await actor.intake();
      const run = await actor.claimOne();
      expect(run.payload).toEqual({ in: 60_000 });
      for (const dueInMs of moments) await ask({ dueInMs, whenRunning: 'rerun' });
      await actor.intake();
      await actor.end(run);
      await actor.intake();
      const next = (await harness().inspect()).find(({ state }) => state === 'PENDING')!;
      expect(next.dueInMs).toBeLessThanOrEqual(10_000);
      expect(await harness().inspect()).toHaveLength(2);
    });

    it('K123: keys of any bytes up to the limit are told apart', async () => {
      const keys = [
        'x'.repeat(512),
        `${'x'.repeat(511)}y`,
        'é',
        'e\u0301',
        'a b',
        'a  b',
        "'",
        '"',
        '\\',
        '{}',
        'NULL',
        '\u{1F600}',
      ];
      for (const key of keys) expect(await ask({ dedupeKey: key })).toMatchObject({ disposition: 'created' });
      for (const key of keys) expect(await ask({ dedupeKey: key })).toMatchObject({ disposition: 'existing' });
    });

    it('Q8: enqueueMany answers each request in order, repetitions in the batch included', async () => {
      const answers = await actor.add(
        { payloadJson: '{"n":10}' },
        { dedupeKey, payloadJson: '{"n":11}' },
        { payloadJson: '{"n":12}' },
        { dedupeKey, payloadJson: '{"n":13}' },
        { dedupeKey: 'other', payloadJson: '{"n":14}' },
      );
      expect(answers.map(({ disposition }) => disposition)).toEqual([
        'created',
        'created',
        'created',
        'existing',
        'created',
      ]);
      expect(answers[3]!.id).toBe(answers[1]!.id);
      const payloads = await Promise.all(answers.map(async ({ id }) => (await actor.see(id)).payload));
      expect(payloads).toEqual([{ n: 10 }, { n: 11 }, { n: 12 }, { n: 11 }, { n: 14 }]);
    });
  });
}
