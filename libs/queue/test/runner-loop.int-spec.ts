import { waitFor, type TestDatabase } from '@holdfast/testing';
import { defineJob, type JobDefinition } from '../src/domain/definition.js';
import { repeat } from '../src/domain/outcome.js';
import { type } from '../src/domain/payload.schema.js';
import { InvalidRunnerOptionsError } from '../src/errors/invalid-runner-options.error.js';
import { eachStand } from './each.stand.js';
import { Gate, RunnerStand } from './runner.stand.js';

const A = defineJob('test.a', { payload: type<object>() });
const B = defineJob('test.b', { payload: type<object>() });
const Rerun = defineJob('test.rerun', { payload: type<object>(), whenRunning: 'rerun' });

describe('The claim loop', () => {
  let db: TestDatabase;
  let stand: RunnerStand;

  eachStand((at) => void ({ db, stand } = at));

  const many = (count: number, definition: JobDefinition<string, object, object> = A) =>
    Promise.all(Array.from({ length: count }, () => stand.enqueue(definition, {})));

  it('R18: a full claim is followed by the next at once, and freed slots by claims: 200 jobs need one wake', async () => {
    stand.detached(A, () => Promise.resolve());
    const ids = await many(200);
    const runner = await stand.start({ slots: 10 });
    for (const id of ids) await stand.seenOf('job.completed', id);
    expect(runner.running).toBe(0);
    const claims = stand.events.filter((event) => event.type === 'claim.answered');
    expect(claims.length).toBeLessThan(100);
  });

  it('R18: a poll finds what nobody announced', async () => {
    stand.attached(A, () => Promise.resolve());
    await stand.start({ pollMs: 50 });
    await stand.seen('claim.answered');
    await stand.seenOf('job.completed', await stand.enqueue(A, {}));
  });

  it('R18: an idle process is quiet: what it asks comes with its polls', async () => {
    stand.attached(A, () => Promise.resolve());
    await stand.start({ pollMs: 60_000 });
    await stand.seen('claim.answered');
    const statements = () =>
      db.adminQuery<{ n: string }>(
        `SELECT count(*) AS n FROM pg_stat_activity
           WHERE datname = current_database() AND application_name = 'holdfast' AND query_start > now() - interval '100ms'`,
      );
    await waitFor(async () => Number((await statements())[0]!.n) === 0, { what: 'no statement for 100 ms' });
    expect(stand.events.filter((event) => event.type === 'claim.answered')).toHaveLength(0);
  });

  it('Q15: a kind runs no more at once than its concurrency, and does not hold up the others', async () => {
    const Limited = defineJob('test.limited', { concurrency: 2, payload: type<object>() });
    let now = 0;
    let most = 0;
    const gate = new Gate();
    stand.detached(Limited, async () => {
      most = Math.max(most, (now += 1));
      await gate.opened;
      now -= 1;
    });
    stand.detached(A, () => Promise.resolve());
    const limited = await many(6, Limited);
    const others = await many(20);
    await stand.start({ slots: 4 });
    for (const id of others) await stand.seenOf('job.completed', id);
    gate.open();
    for (const id of limited) await stand.seenOf('job.completed', id);
    expect(most).toBe(2);
  });

  it('Q11: jobs of a kind without a handler are not touched and are reported; one that is left out is not', async () => {
    const Unknown = defineJob('test.unknown', { payload: type<object>() });
    stand.attached(A, () => Promise.resolve()).attached(B, () => Promise.resolve());
    const [unknown, left, id] = [
      await stand.enqueue(Unknown, {}),
      await stand.enqueue(B, {}),
      await stand.enqueue(A, {}),
    ];
    await stand.start({ except: [B.kind] });
    await stand.seenOf('job.completed', id);
    expect(await stand.seen('kinds.unknown')).toMatchObject({ kinds: ['test.unknown'] });
    for (const untouched of [unknown, left])
      expect(await stand.job(untouched)).toMatchObject({ attempt: 0, state: 'PENDING' });
  });

  it('Q6, R18: a request that waits for a run is looked for when the run has ended, without a wake', async () => {
    const gate = new Gate();
    let runs = 0;
    stand.attached(Rerun, async () => {
      runs += 1;
      if (runs === 1) await gate.pass();
    });
    const runner = await stand.start();
    await stand.enqueue(Rerun, {}, { dedupeKey: 'k' });
    runner.wake();
    await gate.reached;
    const waiting = await stand.jobs.enqueue(Rerun, {}, { dedupeKey: 'k', in: 'own' });
    expect(waiting.disposition).not.toBe('created');
    gate.open();
    await stand.seen('job.completed');
    await stand.seen('job.completed');
    expect(runs).toBe(2);
  });

  it('R11: after hold() no enqueue of the key is satisfied by this run; it pulls forward the row that the run leaves', async () => {
    const held = new Gate();
    let runs = 0;
    stand.attached(A, async (_job, ctx) => {
      runs += 1;
      if (runs > 1) return undefined;
      await ctx.hold();
      await held.pass();
      return repeat('1h');
    });
    const runner = await stand.start();
    const id = await stand.enqueue(A, {}, { dedupeKey: 'k' });
    runner.wake();
    await held.reached;
    await stand.jobs.enqueue(A, {}, { dedupeKey: 'k', in: 'own' });
    held.open();
    expect(await stand.seenOf('job.completed', id)).toMatchObject({ verb: 'repeat' });
    expect(await stand.seenOf('job.completed', id)).toMatchObject({ verb: 'complete' });
  });

  it('Q12: suspects wait until this process is idle, and run one by one with nothing else', async () => {
    const gate = new Gate();
    let now = 0;
    const beside: number[] = [];
    stand.detached(B, async () => {
      now += 1;
      await gate.pass();
      now -= 1;
    });
    stand.detached(A, async () => {
      now += 1;
      beside.push(now);
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
    });
    const runner = await stand.start();
    const busy = await stand.enqueue(B, {});
    runner.wake();
    await gate.reached;
    const suspects = await Promise.all(Array.from({ length: 3 }, () => stand.enqueue(A, {}, { runIn: '1h' })));
    await db.adminQuery('UPDATE holdfast.job SET suspect = true, due_at = now() WHERE kind = $1', [A.kind]);
    const innocent = await stand.enqueue(A, {});
    runner.wake();
    expect(await stand.seen('suspects.awaited')).toMatchObject({ due: 3, running: 1 });
    expect(await stand.job(innocent)).toMatchObject({ attempt: 0, state: 'PENDING' });
    gate.open();
    for (const id of [busy, ...suspects, innocent]) await stand.seenOf('job.completed', id);
    expect(beside).toEqual([1, 1, 1, 1]);
  });

  it('Q12: a process that does not become idle claims again, and tries later', async () => {
    const gate = new Gate();
    stand.detached(B, () => gate.pass());
    stand.detached(A, () => Promise.resolve());
    const runner = await stand.start({ quiesceMs: 100 });
    await stand.enqueue(B, {});
    runner.wake();
    await gate.reached;
    const suspect = await stand.enqueue(A, {}, { runIn: '1h' });
    await db.adminQuery('UPDATE holdfast.job SET suspect = true, due_at = now() WHERE id = $1', [suspect]);
    const innocent = await stand.enqueue(A, {});
    runner.wake();
    await stand.seen('suspects.awaited');
    await stand.seen('suspects.postponed');
    runner.wake();
    await stand.seenOf('job.completed', innocent);
    expect(await stand.job(suspect)).toMatchObject({ state: 'PENDING' });
    gate.open();
  });

  it('R18: an error in one stage is told, waits longer each time, and holds up no other', async () => {
    const broken = await RunnerStand.open(db, {
      store: (store) => Object.assign(store, { intake: () => Promise.reject(new Error('intake is broken')) }),
    });
    broken.attached(A, () => Promise.resolve());
    const id = await broken.enqueue(A, {});
    await broken.start({ pollMs: 50 });
    await broken.seenOf('job.completed', id);
    const first = await broken.seen('loop.failed', ({ failures }) => failures === 1);
    const third = await broken.seen('loop.failed', ({ failures }) => failures === 3);
    expect(first.stage).toBe('intake');
    expect(third.delayMs).toBeGreaterThan(first.delayMs);
    await broken.close();
  });

  it('says every problem of its options at once, and refuses to start without a handler', async () => {
    expect(() => stand.runner({ graceMs: -1, pollMs: NaN, slots: 0 })).toThrow(InvalidRunnerOptionsError);
    expect(() => stand.runner({ graceMs: -1, slots: 1.5 })).toThrow(/slots.*graceMs|graceMs.*slots/s);
    await expect(stand.runner().start()).rejects.toThrow(/no kind/);
  });

  it.each(['30d', '365d'])('K55: a timeout of %s is honoured: nothing fires at once', async (timeout) => {
    const Long = defineJob('test.long', { payload: type<object>(), timeout });
    const gate = new Gate();
    stand.attached(Long, async (_job, ctx) => {
      await gate.pass();
      expect(ctx.signal.aborted).toBe(false);
    });
    const runner = await stand.start({
      graceMs: 31_536_000_000,
      leases: { detachedMs: 31_536_000_000 },
      pollMs: 31_536_000_000,
    });
    const id = await stand.enqueue(Long, {});
    runner.wake();
    await gate.reached;
    await new Promise((resolve) => setImmediate(resolve));
    gate.open();
    await stand.seenOf('job.completed', id);
  });
});
