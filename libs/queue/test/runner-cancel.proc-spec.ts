import { waitFor, type TestDatabase } from '@holdfast/testing';
import type { RunnerOptions } from '../src/runner/runner.options.js';
import { Detached, Patient, type Steps } from './runner.child.jobs.js';
import { runnerChildren } from './runner.children.js';
import type { RunnerStand } from './runner.stand.js';

/** The lease of Patient is 20.9 s, of Detached 1.5 s. */
const LEASES: RunnerOptions = { leases: { attachedMarginMs: 900, boundMarginMs: 300, detachedMs: 1_500 } };

describe('Cancelling what another process runs', () => {
  let db: TestDatabase;
  let stand: RunnerStand;

  const worker = runnerChildren(LEASES, (at) => void ({ db, stand } = at));
  const waits: Steps = { name: 'effect', steps: [['write', 'wait']] };
  const state = async (id: string) => (await stand.job(id)).state;
  const untilCancelled = (id: string) =>
    waitFor(async () => (await state(id)) === 'CANCELLED', { deadlineMs: 20_000, what: `job ${id}` });

  it('R16: an attached run ends as CANCELLED within about a second, long before its timeout, and its writes are gone', async () => {
    const child = await worker();
    const id = await stand.enqueue(Patient, waits);
    await child.event('waiting');
    expect(await stand.store.cancel(id)).toEqual({ disposition: 'requested', id });
    const askedAt = performance.now();
    expect(await child.event('job.cancelled')).toMatchObject({ attempt: 1, id });
    expect(performance.now() - askedAt).toBeLessThan(10_000);
    expect(await state(id)).toBe('CANCELLED');
    expect(await stand.effects()).toEqual([]);
    child.send({});
    expect((await child.stop()).code).toBe(0);
  });

  it.each([8, 1])(
    'R16, Q12: killed after it was asked, it is CANCELLED by the reaper, with %i attempts',
    async (maxAttempts) => {
      const child = await worker();
      const id = await stand.enqueue(Detached, waits, { maxAttempts });
      await child.event('waiting');
      child.signal('SIGSTOP');
      await stand.store.cancel(id);
      await child.kill();
      const other = await worker();
      await untilCancelled(id);
      expect(await stand.job(id)).toMatchObject({ attempt: 1, failures: [{ code: 'queue.lease_expired' }] });
      expect(await db.adminQuery('SELECT FROM holdfast.job_cancel')).toEqual([]);
      expect(other.events.filter(({ event }) => event === 'job.started')).toEqual([]);
    },
  );

  it('R16, R2: frozen past its lease, it is CANCELLED by another process, and what it answers later changes nothing', async () => {
    const child = await worker();
    const id = await stand.enqueue(Detached, waits);
    await child.event('waiting');
    child.signal('SIGSTOP');
    await stand.store.cancel(id);
    await worker();
    await untilCancelled(id);
    child.send({});
    child.signal('SIGCONT');
    expect(await child.event('job.lost')).toMatchObject({ attempt: 1, id });
    expect(await state(id)).toBe('CANCELLED');
  });
});
