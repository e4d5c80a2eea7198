import { pgPool } from '@holdfast/kernel';
import { Pool } from 'pg';
import { createQueue } from '../../src/core.js';

/**
 * A process with a scheduler and one duty, which records each of its runs through the leader's connection: `duty_log` has from when to when, by the
 * database's clock. It is given DATABASE_URL, TICK (such as `1s`) and WHO; SIGTERM closes it.
 */

const who = process.env.WHO!;
const tell = (event: string, fields: object = {}) => process.send?.({ event, who, ...fields });

async function main(): Promise<void> {
  const pool = new Pool({ application_name: 'child-pool', connectionString: process.env.DATABASE_URL, max: 3 });
  pool.on('error', () => undefined);
  const reporter = { report: ({ type }: { type: string }) => void (type.startsWith('leader.') && tell(type)) };
  const queue = createQueue({ database: pgPool(pool), reporter, schedule: { tick: process.env.TICK! } });
  queue.scheduler.events.subscribe(({ type }) => type === 'scheduler.tick' && tell('tick'));
  queue.duty({ deadline: '2s', every: '200ms', name: 'test.recorded' }, async (ctx) => {
    await ctx.transaction(async (sql) => {
      const began = await sql.query<{ at: string }>('SELECT clock_timestamp()::text AS at');
      await sql.query('SELECT pg_sleep(0.05)');
      const insert = 'INSERT INTO duty_log (who, began, ended) VALUES ($1, $2::timestamptz, clock_timestamp())';
      await sql.query(insert, [who, began.rows[0]!.at]);
    });
  });
  await queue.start();
  tell('ready');
  process.once('SIGTERM', () => {
    void queue
      .close()
      .then(() => pool.end())
      .then(() => process.exit(0));
  });
}

void main();
