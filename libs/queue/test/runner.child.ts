import { ControlConnections, pgPool, SchemaName } from '@holdfast/kernel';
import { Pool } from 'pg';
import { handlerEntry } from '../src/handlers/handler.entry.js';
import type { AttachedHandler, DetachedHandler } from '../src/handlers/handler.interface.js';
import { JobHandlerRegistry } from '../src/handlers/job-handler.registry.js';
import { PostgresJobStore } from '../src/postgres/postgres.job-store.js';
import { Runner } from '../src/runner/runner.js';
import { Attached, Detached, Grouped, Doomed, Patient, type Steps } from './runner.child.jobs.js';

/**
 * A worker process for the tests: its handlers do what their payload says, and it tells what happens by messages.
 * It is given DATABASE_URL, and RUNNER_OPTIONS as JSON.
 */

const tell = (event: string, fields: object = {}) => process.send?.({ event, ...fields });

async function main(): Promise<void> {
  const config = { connectionString: process.env.DATABASE_URL! };
  const pool = new Pool({ ...config, application_name: 'child', max: 10 });
  pool.on('error', () => undefined);
  const connections = { deadlineMs: 5_000 };
  const store = new PostgresJobStore({
    connections: new ControlConnections(config, { ...connections, applicationName: 'holdfast', max: 2 }),
    keeper: new ControlConnections(config, { ...connections, applicationName: 'holdfast-keeper', max: 1 }),
    schema: new SchemaName('holdfast'),
  });
  const registry = new JobHandlerRegistry();
  const write = (sql: { query(text: string, values: readonly unknown[]): Promise<unknown> }, name: string) =>
    sql.query('INSERT INTO effect (text) VALUES ($1)', [name]);

  const perform = async (job: { attempt: number; payload: Steps }, steps: Steps, doWrite: () => Promise<unknown>) => {
    for (const step of steps.steps[Math.min(job.attempt, steps.steps.length) - 1]!) {
      if (step === 'write') await doWrite();
      if (step === 'block') for (const until = performance.now() + (steps.blockMs ?? 0); performance.now() < until;);
      if (step === 'die') process.kill(process.pid, 'SIGKILL');
      if (step === 'wait') {
        tell('waiting', { attempt: job.attempt, name: steps.name });
        await new Promise<void>((resolve) => void process.once('message', () => resolve()));
      }
    }
  };

  for (const definition of [Attached, Grouped, Patient]) {
    const handler: AttachedHandler = {
      run: (job, ctx) => perform(job, job.payload, () => write(ctx.tx.sql, job.payload.name)),
    };
    registry.register(handlerEntry({ definition, handler, mode: 'attached', source: 'the child' }));
  }
  const handler: DetachedHandler = {
    run: (job) => perform(job, job.payload, () => write(pool, job.payload.name)),
  };
  for (const definition of [Detached, Doomed])
    registry.register(handlerEntry({ definition, handler, mode: 'detached', source: 'the child' }));

  const options = { pollMs: 100, ...(JSON.parse(process.env.RUNNER_OPTIONS ?? '{}') as object) };
  const reporter = {
    report: (event: { type: string; run?: object; error?: unknown }) => {
      if (event.type.startsWith('job.')) tell(event.type, { ...event.run, error: String(event.error) });
      if (event.type === 'process.blocked') tell(event.type);
    },
  };
  const runner = new Runner({ database: pgPool(pool), options, registry, reporter, store });
  let ending: Promise<unknown> | undefined;
  process.on('SIGTERM', () => {
    ending ??= runner
      .stop()
      .then(() => Promise.all([store.close(), pool.end()]))
      .then(() => process.exit(0));
  });
  await runner.start();
  tell('ready');
}

void main();
