import { pgPool, type SqlExecutor } from '@holdfast/kernel';
import { Pool } from 'pg';
import { createQueue } from '../../src/core.js';
import { defineJob } from '../../src/domain/definition.js';
import type { Job } from '../../src/domain/job.js';
import { done, repeat } from '../../src/domain/outcome.js';
import { type } from '../../src/domain/payload.schema.js';
import { UnavailableError } from '@holdfast/kernel/pure';

/** A process of the clocks' tests: with DATES it enqueues one of each kind, given by its own clock or as those moments; without, it only works. */

const backoff = { delays: ['2s'], jitter: 0 };
const options = { backoff, maxAttempts: 3, payload: type<{ n: number }>(), timeout: '20s' };
const kinds = Object.fromEntries(
  ['later', 'dated', 'own', 'retried', 'deferred', 'repeated'].map((name) => [
    name,
    defineJob(`clock.${name}`, options),
  ]),
);
const Timed = defineJob('clock.timed', { ...options, maxAttempts: 1, timeout: '1s' });
const Long = defineJob('clock.long', options);
const Killed = defineJob('clock.killed', options);

async function main(): Promise<void> {
  const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 12 });
  pool.on('error', () => undefined);
  const queue = createQueue({
    database: pgPool(pool),
    run: { leases: { detachedMs: 1_500 }, poll: '200ms', quiesceMs: 500 },
    schedule: { tick: '1s' },
  });
  const note = (sql: SqlExecutor, job: Job<unknown>) =>
    sql.query('INSERT INTO clock_run (kind, attempt, pid, created_at, due_at) VALUES ($1, $2, $3, $4, $5)', [
      job.kind,
      job.attempt,
      process.pid,
      job.createdAt.toISOString(),
      job.dueAt.toISOString(),
    ]);
  let repeats = 0;
  for (const [name, definition] of Object.entries(kinds))
    queue.handle(definition, {
      run: async (job, { tx }) => {
        // Beside the transaction: what fails is noted too.
        await note(pool, job);
        if (name === 'retried' && job.attempt === 1) throw new Error('once');
        if (name === 'deferred' && (await seen(tx.sql, job.kind)) === 1)
          throw new UnavailableError('clock.away', { after: '2s' });
        if (name === 'repeated' && (repeats += 1) < 3) return repeat('2s');
        return done();
      },
    });
  queue.handle(Timed, {
    run: async (job, { signal }) => {
      await note(pool, job);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await pool.query(`INSERT INTO clock_run (kind, pid) VALUES ('clock.aborted', $1)`, [process.pid]);
    },
  });
  for (const definition of [Long, Killed])
    queue.handle(
      definition,
      {
        run: async (job) => {
          await note(pool, job);
          if (definition === Long) await new Promise<void>((resolve) => process.once('message', () => resolve()));
          else if (job.attempt === 1) await new Promise(() => undefined);
        },
      },
      { detached: true },
    );
  queue.duty({ every: '2s', name: 'clock.duty' }, ({ isLeader }) =>
    isLeader
      ? pool.query(`INSERT INTO clock_run (kind, pid) VALUES ('clock.duty', $1)`, [process.pid])
      : Promise.reject(new Error('no leader')),
  );
  await queue.start();
  if (process.env.DUE_AT) {
    const { jobs } = queue;
    const own = { in: 'own' } as const;
    await jobs.enqueue(kinds.later!, { n: 1 }, { ...own, runIn: '3s' });
    await jobs.enqueue(kinds.dated!, { n: 1 }, { ...own, runAt: new Date(process.env.DUE_AT) });
    await jobs.enqueue(kinds.own!, { n: 1 }, { ...own, runAt: new Date(Date.now() + 1_000) });
    for (const definition of [kinds.retried!, kinds.deferred!, kinds.repeated!, Timed, Long, Killed])
      await jobs.enqueue(definition, { n: 1 }, own);
  }
  process.send?.({ event: 'ready', now: Date.now() });
  setInterval(() => undefined, 1_000);
}

async function seen(sql: SqlExecutor, kind: string): Promise<number> {
  return (await sql.query('SELECT FROM clock_run WHERE kind = $1', [kind])).rows.length;
}

void main();
