import type { TestDatabase } from '@holdfast/testing';
import { defineJob } from '../src/domain/definition.js';
import { repeat } from '../src/domain/outcome.js';
import { type } from '../src/domain/payload.schema.js';
import { RetryableError } from '@holdfast/kernel';
import { eachStand } from './each.stand.js';
import { Gate, type RunnerStand } from './runner.stand.js';

const DAY_MS = 86_400_000;
const Again = defineJob('test.again', { payload: type<{ after: string }>() });
const Later = defineJob('test.later', { payload: type<{ after: string }>() });
const Call = defineJob('test.call', { payload: type<object>() });
const Write = defineJob('test.write', { payload: type<object>() });

describe('Times at the database', () => {
  let db: TestDatabase;
  let stand: RunnerStand;

  eachStand((at) => void ({ db, stand } = at));

  const leaseLeftMs = async (id: string) => {
    const [row] = await db.adminQuery<{ left: number }>(
      `SELECT (extract(epoch FROM greatest(lease_until, r.until) - clock_timestamp()) * 1000)::float8 AS left
         FROM holdfast.job LEFT JOIN holdfast.job_renewal r ON r.job_id = id WHERE id = $1`,
      [id],
    );
    return row!.left;
  };
  const isAbout = (ms: number, expected: number) => {
    expect(ms).toBeGreaterThan(expected - 60_000);
    expect(ms).toBeLessThanOrEqual(expected);
  };

  it.each([30, 365])('K55: a repeat and a retry after %d days wait that long', async (days) => {
    stand.attached(Again, (job) => Promise.resolve(repeat(job.payload.after)));
    stand.detached(Later, (job) => Promise.reject(new RetryableError('test.later', { after: job.payload.after })));
    const runner = await stand.start();
    const again = await stand.enqueue(Again, { after: `${days}d` });
    const later = await stand.enqueue(Later, { after: `${days * DAY_MS}ms` });
    runner.wake();
    await stand.seenOf('job.completed', again);
    await stand.seenOf('job.retried', later);
    for (const id of [again, later]) isAbout((await stand.job(id)).due_in_ms, days * DAY_MS);
  });

  it.each([30, 365])(
    'K55: a job that is asked for in %d days, and one whose date is then, wait that long',
    async (days) => {
      const ids = [
        await stand.enqueue(Write, {}, { runIn: `${days}d` }),
        await stand.enqueue(Write, {}, { runAt: new Date(Date.now() + days * DAY_MS) }),
      ];
      for (const id of ids) isAbout((await stand.job(id)).due_in_ms, days * DAY_MS);
    },
  );

  it.each([30, 365])('K55: leases of %d days are held that long', async (days) => {
    const [called, wrote] = [new Gate(), new Gate()];
    stand.detached(Call, () => called.pass()).attached(Write, () => wrote.pass());
    const ms = days * DAY_MS;
    const runner = await stand.start({ leases: { attachedMarginMs: ms, detachedMs: ms } });
    const [call, write] = [await stand.enqueue(Call, {}), await stand.enqueue(Write, {})];
    runner.wake();
    await Promise.all([called.reached, wrote.reached]);
    isAbout(await leaseLeftMs(call), ms);
    isAbout(await leaseLeftMs(write), ms + Write.timeoutMs);
    called.open();
    wrote.open();
    for (const id of [call, write]) await stand.seenOf('job.completed', id);
  });

  it('K55: fractions of milliseconds are taken by every statement, as whole ones', async () => {
    const gate = new Gate();
    stand
      .attached(Again, (job) => Promise.resolve(repeat(job.payload.after)))
      .attached(Write, () => Promise.resolve())
      .detached(Call, () => gate.pass());
    const runner = await stand.start({
      abortWaitMs: 0.5,
      graceMs: 10.25,
      intakeGapMs: 0.1,
      leases: { attachedMarginMs: 5_000.7, boundMarginMs: 1_000.3, detachedMs: 900.9 },
      pollMs: 100.1,
    });
    const [again, call, write] = [
      await stand.enqueue(Again, { after: '60000.5ms' }),
      await stand.enqueue(Call, {}),
      await stand.enqueue(Write, {}),
    ];
    runner.wake();
    await stand.seenOf('job.completed', again);
    await stand.seenOf('job.completed', write);
    await stand.seen('lease.renewed');
    gate.open();
    await stand.seenOf('job.completed', call);
    expect(stand.events.filter((event) => event.type === 'loop.failed')).toEqual([]);
  });
});
