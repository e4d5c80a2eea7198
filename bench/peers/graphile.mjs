// Runs graphile-worker over jobs that wait already, and prints one line of JSON: how long it took until the last one was completed.
// argv: connection string, mode (`insert` | `noop`), number of jobs, settings as JSON (`{ batched, concurrency }`).
import { run } from 'graphile-worker';
import pg from 'pg';

const [connectionString, mode, jobsText, settingsText] = process.argv.slice(2);
const jobs = Number(jobsText);
const settings = JSON.parse(settingsText);
const pool = new pg.Pool({ connectionString, max: settings.concurrency + 4 });
pool.on('error', () => {});
pool.on('connect', (client) => client.on('error', () => {}));

await pool.query('CREATE TABLE IF NOT EXISTS bench_effect (job_id bigint NOT NULL)');
await pool.query('TRUNCATE bench_effect');
const { makeWorkerUtils } = await import('graphile-worker');
const utils = await makeWorkerUtils({ pgPool: pool });
await utils.migrate();
for (let from = 1; from <= jobs; from += 1_000) {
  const batch = Array.from({ length: Math.min(1_000, jobs - from + 1) }, (_, i) => ({
    identifier: 'bench',
    payload: { n: from + i },
  }));
  await utils.addJobs(batch);
}
await utils.release();
await pool.query('VACUUM ANALYZE');

let ran = 0;
const seen = new Set();
const worker = settings.batched ? { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } : {};
const started = process.hrtime.bigint();
const runner = await run({
  pgPool: pool,
  noHandleSignals: true,
  logger: new (await import('graphile-worker')).Logger(() => () => {}),
  preset: { worker: { concurrentJobs: settings.concurrency, ...worker } },
  taskList: {
    bench: async (payload, helpers) => {
      if (mode === 'insert')
        await helpers.withPgClient((client) => client.query('INSERT INTO bench_effect VALUES ($1)', [payload.n]));
      seen.add(payload.n);
      ran += 1;
      if (ran === jobs) runner.events.emit('bench:ran');
    },
  },
});
await new Promise((resolve) => (ran >= jobs ? resolve() : runner.events.once('bench:ran', resolve)));
// The last completions may still be on their way: the table says when they are durable.
const left = async () => (await pool.query('SELECT count(*)::int AS n FROM graphile_worker.jobs')).rows[0].n;
for (let tries = 0; tries < 2_000 && (await left()) > 0; tries += 1)
  await new Promise((resolve) => setTimeout(resolve, 5));
const seconds = Number(process.hrtime.bigint() - started) / 1e9;
await runner.stop();
const { rows } = await pool.query(
  'SELECT (SELECT count(*) FROM graphile_worker.jobs)::int AS left, (SELECT count(*) FROM bench_effect)::int AS effects',
);
console.log(
  JSON.stringify({
    seconds,
    jobs: ran,
    distinct: seen.size,
    left: rows[0].left,
    effects: rows[0].effects,
    node: process.version,
  }),
);
await pool.end();
