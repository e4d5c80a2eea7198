import { waitFor, type TestDatabase } from '@holdfast/testing';
import type { RunnerOptions } from '../src/runner/runner.options.js';
import { Attached, Detached, Patient, type Steps } from './runner.child.jobs.js';
import { runnerChildren } from './runner.children.js';
import type { RunnerStand } from './runner.stand.js';

/** The lease of Attached is 1.5 s, of Detached 1.5 s. */
const LEASES: RunnerOptions = { leases: { attachedMarginMs: 900, boundMarginMs: 300, detachedMs: 1_500 } };

describe('Runners in processes that die or stand still', () => {
  let db: TestDatabase;
  let stand: RunnerStand;

  const worker = runnerChildren(LEASES, (at) => void ({ db, stand } = at));
  const job = (definition: typeof Attached | typeof Detached | typeof Patient, steps: Steps, maxAttempts = 8) =>
    stand.enqueue(definition as typeof Attached, steps, { maxAttempts });
  const state = async (id: string) => (await stand.job(id)).state;
  const succeeded = (id: string) =>
    waitFor(async () => (await state(id)) === 'SUCCEEDED', { deadlineMs: 20_000, what: `job ${id}` });

  it('R1, K24: killed between the write and the commit: neither stays; after the lease exactly one effect', async () => {
    const id = await job(Attached, { name: 'once', steps: [['write', 'wait'], ['write']] });
    const first = await worker();
    await first.event('waiting');
    await first.kill();
    expect(await stand.effects()).toEqual([]);
    expect(await state(id)).toBe('RUNNING');
    const second = await worker();
    await succeeded(id);
    expect(await stand.effects()).toEqual(['once']);
    expect(await stand.job(id)).toMatchObject({ attempt: 2 });
    expect((await second.stop()).code).toBe(0);
  });

  it('R1: killed after the commit: the effect stays and the job does not run again', async () => {
    const id = await job(Attached, { name: 'once', steps: [['write']] });
    const first = await worker();
    await first.event('job.completed');
    await first.kill();
    const second = await worker();
    const next = await job(Attached, { name: 'next', steps: [['write']] });
    await succeeded(next);
    expect(await stand.job(id)).toMatchObject({ attempt: 1, state: 'SUCCEEDED' });
    expect(await stand.effects()).toEqual(['next', 'once']);
    await second.stop();
  });

  it.each(['attached', 'detached'] as const)(
    'R2, K110: an event loop blocked past the lease, while another process takes over: the late one changes nothing (%s)',
    async (mode) => {
      const definition = mode === 'attached' ? Attached : Detached;
      // Both are up before there is a job: how long a process takes to start must not count against the attempt.
      const both = await Promise.all([worker(), worker()]);
      const id = await job(definition, { blockMs: 6_000, name: mode, steps: [['wait', 'write', 'block'], ['write']] });
      const waiting = () => both.find(({ events }) => events.some(({ event }) => event === 'waiting'));
      const blocked = await waitFor(waiting, { deadlineMs: 20_000, what: 'one of them to start the job' });
      const other = both.find((child) => child !== blocked)!;
      blocked.send({});
      await succeeded(id);
      const end = await blocked.event('job.lost');
      expect(end).toMatchObject({ attempt: 1, id });
      await blocked.event('process.blocked');
      expect(await stand.job(id)).toMatchObject({ attempt: 2, state: 'SUCCEEDED' });
      // A detached handler's own writes are its own affair: it must be safe to run twice.
      expect(await stand.effects()).toEqual(mode === 'attached' ? ['attached'] : ['detached', 'detached']);
      await Promise.all([blocked.stop(), other.stop()]);
    },
  );

  it('R2: a process that is stopped past its lease and goes on: its transaction is gone, its job done once', async () => {
    const id = await job(Attached, { name: 'once', steps: [['write', 'wait'], ['write']] });
    const frozen = await worker();
    await frozen.event('waiting');
    frozen.signal('SIGSTOP');
    const other = await worker();
    await succeeded(id);
    frozen.signal('SIGCONT');
    await frozen.event('job.lost');
    expect(await stand.effects()).toEqual(['once']);
    await other.stop();
    await frozen.kill();
  });

  it('R7: a killed process frees a detached job within one lease, however long the job may run', async () => {
    const id = await job(Detached, { name: 'd', steps: [['wait'], ['nothing']] });
    const first = await worker();
    await first.event('waiting');
    await first.kill();
    const startedAt = performance.now();
    const second = await worker();
    await succeeded(id);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(await stand.job(id)).toMatchObject({ attempt: 2 });
    await second.stop();
  });

  it('Q12: a job that kills its process ends as a dead letter; its nine innocent neighbours succeed within two attempts', async () => {
    const poison = await job(Detached, { name: 'poison', steps: [['die']] }, 3);
    const innocents = await Promise.all(
      Array.from({ length: 9 }, (_, n) => job(Detached, { name: `i${n}`, steps: [['wait'], ['write']] })),
    );
    // The first process takes all ten: the innocents are in the middle of their work when it dies.
    let kills = 0;
    let child = await worker({ slots: 10 });
    const ended = async () => {
      const sql = 'SELECT FROM holdfast.job WHERE state IN (0, 1)';
      return (await db.adminQuery(sql)).length === 0;
    };
    for (;;) {
      await waitFor(async () => child.exited || (await ended()), {
        deadlineMs: 20_000,
        what: 'the process or the jobs to end',
      });
      if (!child.exited) break;
      kills += 1;
      expect(kills).toBeLessThanOrEqual(3);
      child = await worker({ slots: 10 });
    }
    expect(kills).toBe(3);
    expect(await stand.job(poison)).toMatchObject({
      attempt: 3,
      error_code: 'queue.attempts_exhausted',
      state: 'DEAD_LETTER',
    });
    for (const id of innocents) {
      const { attempt, state: ended } = await stand.job(id);
      expect({ ended, within: attempt <= 2 }).toEqual({ ended: 'SUCCEEDED', within: true });
    }
    expect(await stand.effects()).toHaveLength(9);
    await child.stop();
  });

  it('K56: SIGTERM lets a running job end within the grace period; past it the job is free at once; a second SIGTERM changes nothing', async () => {
    const ends = await job(Patient, { blockMs: 300, name: 'ends', steps: [['wait', 'block', 'write']] });
    const patient = await worker({ graceMs: 10_000 });
    await patient.event('waiting');
    patient.signal('SIGTERM');
    patient.send({});
    expect(await patient.exit()).toEqual({ code: 0, signal: null });
    expect(await stand.job(ends)).toMatchObject({ attempt: 1, state: 'SUCCEEDED' });

    const stays = await job(Patient, { name: 'stays', steps: [['write', 'wait']] });
    const hurried = await worker({ graceMs: 300 });
    await hurried.event('waiting');
    hurried.signal('SIGTERM');
    hurried.signal('SIGTERM');
    await hurried.event('job.given_back');
    expect(await hurried.exit()).toEqual({ code: 0, signal: null });
    expect(await stand.job(stays)).toMatchObject({ attempt: 0, state: 'PENDING' });
    expect(await stand.effects()).toEqual(['ends']);
  });
});
