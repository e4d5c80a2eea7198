import { randomUUID } from 'node:crypto';
import type { LeasedSettlement } from '../../src/ports/job-store.js';
import { JOB, JobsStand, keyed } from './jobs.stand.js';

const KIND = 'demo.job';
const LEASE_MS = 600_000;

describe('Operators at the same jobs', () => {
  let stand: JobsStand;

  beforeEach(async () => (stand = await JobsStand.open()));
  afterEach(() => stand.close());

  it('K132: completion, renewal, cancel, requeue, run now, delete and purge of the same 200 jobs meet without a deadlock, and each job that is not done is named', async () => {
    const [one, two] = [stand.store(), stand.store()];
    const [here, there] = [stand.jobs(), stand.jobs()];
    await one.enqueueNow(Array.from({ length: 200 }, (_, n) => keyed(n % 2 ? null : `k${n}`)));
    await one.intake(250);
    const all = (await stand.database.adminQuery<{ id: string }>(`SELECT id::text FROM ${JOB} ORDER BY id`)).map(
      ({ id }) => id,
    );
    expect(all).toHaveLength(200);
    const doomed = all.slice(190);
    for (let round = 0; round < 5; round += 1) {
      const claimed = await one.claim({
        fullLook: true,
        kinds: [{ kind: KIND, leaseMs: LEASE_MS, limit: 200 }],
        limit: 200,
        owner: 'contention',
        token: randomUUID(),
      });
      const leases = claimed.map(({ lease }) => lease);
      const settlements: LeasedSettlement[] = claimed.map(({ attempt, id, lease }) => ({
        lease,
        settlement:
          Number(id) % 2 === 0
            ? { verb: 'refuse', code: 'test.refused', params: null }
            : { verb: 'bury', failure: { attempt, code: 'test.failed' } },
      }));
      const reversed = [...all].reverse();
      const [settled, , first, second, , cancels, deleted] = await Promise.all([
        one.settle(settlements),
        two.renew(leases, LEASE_MS),
        here.requeueMany(all),
        there.requeueMany(reversed),
        Promise.allSettled(reversed.slice(0, 20).map((id) => there.runNow(id))),
        Promise.all(reversed.slice(20, 60).map((id) => here.cancel(id))),
        Promise.allSettled(doomed.map((id) => here.delete(id))),
        there.purge({ limit: 10, olderThan: '1h', state: 'FAILED' }),
      ]);
      expect(settled.filter(Boolean)).toHaveLength(claimed.length);
      for (const { disposition } of cancels) expect(['cancelled', 'requested', 'final']).toContain(disposition);
      for (const answer of deleted)
        if (answer.status === 'rejected')
          expect((answer.reason as { code: string }).code).toMatch(/^queue\.job_(state|not_found)$/);
      const ids = (answers: typeof first) => answers.map(({ asked }) => asked);
      expect(ids(first)).toEqual(all);
      expect(ids(second)).toEqual(reversed);
      for (const { disposition } of [...first, ...second])
        expect(['requeued', 'wrong_state', 'not_found']).toContain(disposition);
      await here.requeueMany(all);
      const left = await stand.database.adminQuery<{ n: number }>(
        `SELECT count(*)::int AS n FROM ${JOB} WHERE state <> 0`,
      );
      expect(left[0]!.n).toBe(0);
    }
  });

  it('A1: run now against a claim: the job runs once, and is named as running or is due', async () => {
    const store = stand.store();
    const jobs = stand.jobs();
    for (let round = 0; round < 20; round += 1) {
      const id = await stand.seed({ dueInS: round % 2 ? 60 : -60, state: 'PENDING' });
      const [claimed, ran] = await Promise.allSettled([claimOne(store), jobs.runNow(id)]);
      const taken = claimed.status === 'fulfilled' ? claimed.value : [];
      if (ran.status === 'rejected') expect(ran.reason).toMatchObject({ code: 'queue.job_state', state: 'RUNNING' });
      const later = taken.length === 0 ? await claimOne(store) : taken;
      expect(later.map((job) => job.id)).toEqual([id]);
      await store.settle(later.map(({ lease }) => ({ lease, settlement: { verb: 'complete', outcome: null } })));
    }
  });

  it('A1: delete of a pending job against a claim: it is gone, or it runs, never both', async () => {
    const store = stand.store();
    const jobs = stand.jobs();
    for (let round = 0; round < 20; round += 1) {
      const id = await stand.seed({ state: 'PENDING' });
      const [claimed, deleted] = await Promise.allSettled([claimOne(store), jobs.delete(id)]);
      const taken = claimed.status === 'fulfilled' ? claimed.value : [];
      expect({ deleted: deleted.status === 'fulfilled', taken: taken.length }).toEqual(
        taken.length === 0 ? { deleted: true, taken: 0 } : { deleted: false, taken: 1 },
      );
      if (deleted.status === 'rejected') expect(deleted.reason).toMatchObject({ state: 'RUNNING' });
      const settled = await store.settle(taken.map(({ lease }) => ({ lease, settlement: { verb: 'giveBack' } })));
      expect(settled.every(Boolean)).toBe(true);
      await stand.database.adminQuery(`DELETE FROM ${JOB}`);
    }
  });

  it('A1: requeue against delete and purge: it is gone, or pending, and the loser says so', async () => {
    const [here, there] = [stand.jobs(), stand.jobs()];
    const outcomes = new Set<string>();
    for (let round = 0; round < 30; round += 1) {
      const id = await stand.seed({ finishedAgoS: 100, state: 'DEAD_LETTER' });
      const removing = (): Promise<unknown> =>
        round % 2 ? there.delete(id) : there.purge({ olderThan: '10s', state: 'DEAD_LETTER' });
      const requeueing = () =>
        here.requeue(id).then(
          () => 'requeued',
          (error: { code: string }) => error.code,
        );
      const both = round % 3 ? [requeueing(), removing()] : [removing(), requeueing()];
      const results = await Promise.allSettled(both);
      const requeued = results
        .map((result) => (result.status === 'fulfilled' ? result.value : undefined))
        .includes('requeued');
      const job = await here.find(id);
      // A delete takes pending jobs too, a purge does not.
      if (job) expect({ requeued, state: job.state }).toEqual({ requeued: true, state: 'PENDING' });
      else if (round % 2 === 0) expect(requeued).toBe(false);
      outcomes.add(job ? 'pending' : 'gone');
      await stand.database.adminQuery(`DELETE FROM ${JOB}`);
    }
    expect(outcomes.size).toBeGreaterThanOrEqual(1);
  });

  it('A1: a purge that found a job looks again: one that was requeued meanwhile, and one that has ended anew, stay', async () => {
    const pending = await stand.seed({ finishedAgoS: 100, state: 'DEAD_LETTER' });
    const anew = await stand.seed({ finishedAgoS: 100, state: 'DEAD_LETTER' });
    const [{ us }] = (await stand.database.adminQuery<{ us: string }>(
      `SELECT (extract(epoch FROM now() - interval '10 s') * 1000000)::bigint::text AS us`,
    )) as [{ us: string }];
    await stand.jobs().requeueMany([pending, anew]);
    await stand.database.adminQuery(`UPDATE ${JOB} SET state = 4, finished_at = now() WHERE id = $1`, [anew]);
    const rows = await stand.database.adminQuery<{ answer: string }>(
      `SELECT answer FROM holdfast.delete_jobs($1::bigint[], '{4}', timestamptz 'epoch' + $2::bigint * interval '1 microsecond')`,
      [[pending, anew], us],
    );
    expect(rows.map(({ answer }) => answer)).toEqual(['wrong_state', 'wrong_state']);
  });

  const claimOne = (store: ReturnType<JobsStand['store']>) =>
    store.claim({
      fullLook: true,
      kinds: [{ kind: KIND, leaseMs: LEASE_MS, limit: 1 }],
      limit: 1,
      owner: 'contention',
      token: randomUUID(),
    });
});
