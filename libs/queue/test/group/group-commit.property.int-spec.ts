import { type TestDatabase, waitFor } from '@holdfast/testing';
import { PermanentError } from '@holdfast/kernel';
import { defineJob } from '../../src/domain/definition.js';
import { refuse } from '../../src/domain/outcome.js';
import { type } from '../../src/domain/payload.schema.js';
import { eachStand } from '../each.stand.js';
import type { RunnerStand } from '../runner.stand.js';

type Fate = 'bad' | 'cheats' | 'constraint' | 'dies' | 'good' | 'loses' | 'refuses' | 'slow' | 'swallows';

/** What a member does in the attempts that are listed; after them it is good. `dies` ends its backend. */
interface Chaos {
  readonly fates: readonly Fate[];
  readonly n: number;
}

const FATES: readonly Fate[] = ['bad', 'cheats', 'constraint', 'dies', 'loses', 'refuses', 'slow', 'swallows'];
const JOBS = 150;
const TIMEOUT_MS = 1_500;
const Chaotic = defineJob('test.chaotic', {
  backoff: { delays: ['0ms'] },
  groupCommit: { delay: '5ms', size: 8 },
  maxAttempts: 4,
  payload: type<Chaos>(),
  timeout: `${TIMEOUT_MS}ms`,
});

/** mulberry32 makes numbers from 0 to 1 that a seed repeats. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** expectedOf is what a job must look like in the end, whatever it shared a transaction with. */
function expectedOf({ fates }: Chaos): { attempt: number; state: string; stays: boolean } {
  let attempt = 0;
  for (const fate of fates) {
    if (fate === 'dies' || fate === 'loses') continue;
    attempt += 1;
    if (fate === 'refuses') return { attempt, state: 'FAILED', stays: false };
    if (fate === 'bad') return { attempt, state: 'DEAD_LETTER', stays: false };
    if (attempt === 4) return { attempt, state: 'DEAD_LETTER', stays: false };
  }
  return { attempt: attempt + 1, state: 'SUCCEEDED', stays: true };
}

describe('Groups of runs of which many fail', () => {
  let db: TestDatabase;
  let stand: RunnerStand;

  eachStand((at) => void ({ db, stand } = at), { untilIdle: true });

  it.each([1, 2, 3])(
    'R21: every effect is there exactly once, and every attempt is counted as if there were no groups (seed %d)',
    async (seed) => {
      const random = mulberry32(seed);
      const plans: Chaos[] = Array.from({ length: JOBS }, (_, n) => {
        const length = random() < 0.75 ? 0 : 1 + Math.floor(random() * 3);
        const fates = Array.from({ length }, () => FATES[Math.floor(random() * FATES.length)]!);
        // Slow ones cost time, and those that end their backend three times in a row would spend an attempt.
        return { fates: fates.filter((fate, at) => fate !== 'slow' || (at === 0 && n % 3 === 0)), n };
      });
      // `done` counts the fates that a job has behind it: a run that a group makes twice meets the same fate twice.
      const done = new Map<number, number>();
      await db.adminQuery(`INSERT INTO effect VALUES ('there', 0)`);
      stand.attached(Chaotic, async (job, ctx) => {
        const { fates, n } = job.payload;
        const fate = fates[done.get(n) ?? 0] ?? 'good';
        await ctx.tx.sql.query('INSERT INTO effect (text) VALUES ($1)', [`${n}`]);
        if (fate === 'bad') throw new PermanentError('test.bad');
        if (fate === 'cheats') await ctx.tx.sql.query('ROLLBACK').catch(() => undefined);
        if (fate === 'constraint') await ctx.tx.sql.query(`INSERT INTO effect VALUES ('twice', 0)`);
        if (fate === 'swallows') await ctx.tx.sql.query('SELECT 1/0').catch(() => undefined);
        if (fate === 'refuses') return refuse('test.no');
        if (fate === 'slow') await new Promise((resolve) => setTimeout(resolve, TIMEOUT_MS * 1.3));
        if (fate === 'loses') {
          done.set(n, (done.get(n) ?? 0) + 1);
          await ctx.tx.sql.query(`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$`);
        }
        if (fate === 'dies') {
          done.set(n, (done.get(n) ?? 0) + 1);
          const { rows } = await ctx.tx.sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
          await db.terminateBackends('pid = $1', [rows[0]!.pid]);
        }
      });
      const ids = await Promise.all(plans.map((payload) => stand.enqueue(Chaotic, payload)));
      const runner = stand.runner({ abortWaitMs: 2_000, pollMs: 100, slots: 40 });
      runner.events.subscribe((event) => {
        if (event.type !== 'job.retried') return;
        const { n } = plans[ids.indexOf(event.run.id)]!;
        done.set(n, (done.get(n) ?? 0) + 1);
      });
      await runner.start();
      const live = () => db.adminQuery(`SELECT FROM holdfast.job WHERE state IN (0, 1)`);
      await waitFor(async () => (await live()).length === 0, { deadlineMs: 60_000, what: 'every job to have ended' });
      await runner.stop();
      for (const [n, id] of ids.entries()) {
        const { attempt, state } = await stand.job(id);
        const { attempt: spent, state: end } = expectedOf(plans[n]!);
        expect({ attempt, n, state, ...plans[n] }).toEqual({ ...plans[n], attempt: spent, n, state: end });
      }
      const stays = plans.filter((plan) => expectedOf(plan).stays).map(({ n }) => `${n}`);
      expect(await stand.effects()).toEqual([...stays, 'there'].sort());
      expect(stand.events.some(({ type: name }) => name === 'group.committed')).toBe(true);
    },
    90_000,
  );
});
