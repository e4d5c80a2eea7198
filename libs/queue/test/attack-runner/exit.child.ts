import { typeOrm } from '@holdfast/kernel/typeorm';
import { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { createQueue, defineJob, done, pgPool, type } from '../../src/core.js';

/**
 * A worker that does a bit of everything, closes its queue and its pool, and then does nothing: it is to end by itself.
 * It says how long that took, and every warning and unhandled rejection on the way.
 */

const payload = type<object>();
const Done = defineJob('exit.done', { payload });
const Failing = defineJob('exit.failing', { payload, backoff: { delays: ['365d'] } });
const Late = defineJob('exit.late', { payload, timeout: '100ms', backoff: { delays: ['1h'] } });
const Long = defineJob('exit.long', { payload, timeout: '365d' });
const Finishing = defineJob('exit.finishing', { payload });

const tell = (event: string, fields: object = {}) => process.send?.({ event, ...fields });

async function main(): Promise<void> {
  const connection = { application_name: 'child', max: 6 };
  const url = process.env.DATABASE_URL!;
  const source = new DataSource({ type: 'postgres', url, extra: connection });
  const pool = new Pool({ connectionString: url, ...connection });
  const onTypeOrm = process.env.USING === 'typeorm';
  if (onTypeOrm) await source.initialize();
  const ended = new Set<string>();
  const queue = createQueue({
    database: onTypeOrm ? typeOrm(source) : pgPool(pool),
    reporter: {
      report: (event) => {
        if (/^job\.(completed|retried|given_back)$/.test(event.type) && 'run' in event) ended.add(event.run.kind);
        if (ended.size === 4) tell('worked');
      },
    },
    run: { grace: '100ms', poll: '50ms', slots: 5 },
  });
  const untilAborted = (signal: AbortSignal) =>
    new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  queue.handle(Done, { run: async (_job, { tx }) => void (await tx.sql.query('SELECT 1')) });
  queue.handle(Failing, { run: () => Promise.reject(new Error('no')) });
  queue.handle(Late, { run: (_job, { signal }) => untilAborted(signal) });
  queue.handle(Long, { run: (_job, { signal }) => untilAborted(signal) }, { detached: true });
  queue.handle(Finishing, { run: (_job, ctx) => ctx.finish(() => Promise.resolve(done())) }, { detached: true });
  await queue.start();
  for (const definition of [Done, Failing, Late, Long, Finishing])
    await queue.jobs.enqueue(definition, {}, { in: 'own' });
  await new Promise<void>((resolve) => process.once('message', () => resolve()));
  await Promise.all([queue.close(), queue.close()]);
  await (onTypeOrm ? source.destroy() : pool.end());
  const closedAt = performance.now();
  process.once('exit', () => process.stdout.write(`ended after ${Math.round(performance.now() - closedAt)} ms\n`));
}

process.on('warning', (warning) => process.stdout.write(`warning ${String(warning)}\n`));
void main();
