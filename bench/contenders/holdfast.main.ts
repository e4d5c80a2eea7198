// Runs Holdfast over jobs that wait already, and prints one line of JSON: how long it took until the last one was completed.
// argv: connection string, mode (`attached-insert` | `group-insert` | `batch-insert` | `detached-noop`), number of jobs, slots.
import { type BatchContext, createQueue, defineJob, pgPool, type, type HoldfastQueue } from '@holdfast/queue/core';
import { Client, Pool } from 'pg';

const BATCH = 1_000;
const BATCH_SIZE = 100;
const GROUP_SIZE = 32;
const payload = type<{ n: number }>();
const Alone = defineJob('bench.job', { payload, timeout: '30s' });
const Grouped = defineJob('bench.job', { groupCommit: { size: GROUP_SIZE }, payload, timeout: '30s' });

/** countStatements counts what this process sends, so that the statements a job costs are known and not only how long they take. */
function countStatements(): { sent: number } {
  const counter = { sent: 0 };
  const prototype = Client.prototype as { query: (...args: unknown[]) => unknown };
  const { query } = prototype;
  prototype.query = function counted(this: unknown, ...args: unknown[]) {
    counter.sent += 1;
    return Reflect.apply(query, this, args);
  };
  return counter;
}

interface Progress {
  readonly all: Promise<void>;
  readonly mark: (n: number) => void;
  readonly seen: Set<number>;
}

function progressOf(jobs: number): Progress {
  const seen = new Set<number>();
  let finish: () => void = () => undefined;
  const all = new Promise<void>((resolve) => (finish = resolve));
  const mark = (n: number) => {
    seen.add(n);
    if (seen.size === jobs) finish();
  };
  return { all, mark, seen };
}

async function enqueueAll(queue: HoldfastQueue, jobs: number): Promise<void> {
  for (let from = 1; from <= jobs; from += BATCH) {
    const size = Math.min(BATCH, jobs - from + 1);
    await queue.jobs.enqueueMany(
      Array.from({ length: size }, (_, i) => Alone.request({ n: from + i })),
      { in: 'own' },
    );
  }
}

function handle(queue: HoldfastQueue, mode: string, progress: Progress): void {
  if (mode === 'attached-insert' || mode === 'group-insert') {
    queue.handle(mode === 'group-insert' ? Grouped : Alone, {
      run: async (job, ctx) => {
        ctx.signal.throwIfAborted();
        await ctx.tx.sql.query('INSERT INTO bench_effect VALUES ($1)', [job.payload.n], 'bench-insert');
        progress.mark(job.payload.n);
      },
    });
    return;
  }
  if (mode === 'batch-insert') {
    const runBatch = async (batch: readonly { payload: { n: number } }[], ctx: BatchContext) => {
      ctx.signal.throwIfAborted();
      const numbers = batch.map((job) => job.payload.n);
      await ctx.tx.sql.query('INSERT INTO bench_effect SELECT unnest($1::bigint[])', [numbers], 'bench-insert-many');
      numbers.forEach(progress.mark);
    };
    queue.handle(Alone, { runBatch }, { batch: { size: BATCH_SIZE } });
    return;
  }
  const run = (job: { payload: { n: number } }, ctx: { signal: AbortSignal }) => {
    ctx.signal.throwIfAborted();
    progress.mark(job.payload.n);
    return Promise.resolve();
  };
  queue.handle(Alone, { run }, { detached: true });
}

async function main(connectionString: string, mode: string, jobs: number, slots: number): Promise<void> {
  const pool = new Pool({ connectionString, max: Math.min(slots + 2, 20) });
  await pool.query('CREATE TABLE IF NOT EXISTS bench_effect (job_id bigint NOT NULL)');
  const queue = createQueue({ database: pgPool(pool), migrations: 'up', run: { slots } });
  await queue.prepare();
  await enqueueAll(queue, jobs);
  await pool.query('VACUUM ANALYZE');
  const progress = progressOf(jobs);
  handle(queue, mode, progress);
  const statements = countStatements();
  const started = process.hrtime.bigint();
  await queue.start();
  await progress.all;
  // The last completions may still be on their way: closing awaits them, and the table says what is durable.
  await queue.close();
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;
  const { sent } = statements;
  const { rows } = await pool.query<{ left: number; effects: number; done: number }>(
    `SELECT (SELECT count(*) FROM holdfast.job WHERE state <> 2)::int AS left,
            (SELECT count(*) FROM holdfast.job WHERE state = 2)::int AS done, (SELECT count(*) FROM bench_effect)::int AS effects`,
  );
  console.log(
    JSON.stringify({
      seconds,
      jobs: rows[0]?.done,
      distinct: progress.seen.size,
      left: rows[0]?.left,
      effects: rows[0]?.effects,
      statements: sent,
    }),
  );
  await pool.end();
}

const [connectionString = '', mode = '', jobs = '0', slots = '10'] = process.argv.slice(2);
void main(connectionString, mode, Number(jobs), Number(slots));
