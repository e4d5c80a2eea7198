// Runs pg-boss over jobs that wait already, each batch in one transaction with its completion and an INSERT for each job, and prints one line of JSON: how long
// it took until the last one was completed. argv: connection string, number of jobs, settings as JSON (`{ batchSize, workers }`).
import pg from 'pg';
import { PgBoss } from 'pg-boss';

const [connectionString, jobsText, settingsText] = process.argv.slice(2);
const jobs = Number(jobsText);
const { batchSize, workers } = JSON.parse(settingsText);
const pool = new pg.Pool({ connectionString, max: 2 });
await pool.query('CREATE TABLE IF NOT EXISTS bench_effect (job_id bigint NOT NULL)');
await pool.query('TRUNCATE bench_effect');

const boss = new PgBoss({ connectionString, max: workers + 4, schedule: false, supervise: false });
boss.on('error', () => {});
await boss.start();
await boss.createQueue('bench');
for (let from = 1; from <= jobs; from += 1_000) {
  const batch = Array.from({ length: Math.min(1_000, jobs - from + 1) }, (_, i) => ({ data: { n: from + i } }));
  await boss.insert('bench', batch);
}
await pool.query('VACUUM ANALYZE');

let ran = 0;
let finish = () => undefined;
const all = new Promise((resolve) => (finish = resolve));
const seen = new Set();
const started = process.hrtime.bigint();
const options = {
  batchSize,
  burstWhenBatchFull: true,
  localConcurrency: workers,
  pollingIntervalSeconds: 0.5,
  transactional: true,
};
await boss.work('bench', options, async (batch, tx) => {
  for (const { data } of batch) {
    await tx.executeSql('INSERT INTO bench_effect VALUES ($1)', [data.n]);
    seen.add(data.n);
    ran += 1;
  }
  if (ran >= jobs) finish();
});
await all;
// The last completions may still be on their way: the table says when they are durable.
const left = async () =>
  (await pool.query(`SELECT count(*)::int AS n FROM pgboss.job WHERE name = 'bench' AND state <> 'completed'`)).rows[0]
    .n;
for (let tries = 0; tries < 2_000 && (await left()) > 0; tries += 1)
  await new Promise((resolve) => setTimeout(resolve, 5));
const seconds = Number(process.hrtime.bigint() - started) / 1e9;
const { rows } = await pool.query('SELECT count(*)::int AS effects FROM bench_effect');
console.log(
  JSON.stringify({
    seconds,
    jobs: ran,
    distinct: seen.size,
    left: await left(),
    effects: rows[0].effects,
    node: process.version,
  }),
);
await boss.stop({ graceful: false });
await pool.end();
