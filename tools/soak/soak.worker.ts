import { createQueue, done, pgPool, PermanentError, refuse, repeat, UnavailableError } from '@holdfast/queue/core';
import type { SqlExecutor } from '@holdfast/kernel';
import * as kinds from './soak.jobs.js';
import { soakPool } from './soak.pool.js';

/** A worker of the soak: DATABASE_URL leads through a proxy of its own, RECEIVER_URL straight to where the receiver counts. */

const pool = soakPool({ application_name: 'soak-worker', connectionString: process.env.DATABASE_URL, max: 10 });
const receiver = soakPool({ application_name: 'soak-receiver', connectionString: process.env.RECEIVER_URL, max: 2 });

const write = (sql: SqlExecutor, kind: string, tag: string) =>
  sql.query('INSERT INTO soak_effect (kind, tag) VALUES ($1, $2)', [kind, tag]);

const queue = createQueue({
  database: pgPool(pool),
  ensure: kinds.POLLERS.map((tag) => kinds.Poller.request({ tag }, { dedupeKey: tag })),
  run: {
    grace: '5s',
    leases: { attachedMarginMs: 3_000, boundMarginMs: 1_000, detachedMs: 6_000 },
    poll: '500ms',
    quiesceMs: 5_000,
    slots: 8,
  },
  schedule: { tick: '2s' },
});

for (const definition of [kinds.Plain, kinds.Grouped])
  queue.handle(definition, {
    run: async ({ payload }, { tx }) => void (await write(tx.sql, definition.kind, payload.tag)),
  });
queue.handle(kinds.Flaky, {
  run: async ({ attempt, payload }, { tx }) => {
    await write(tx.sql, 'soak.flaky', payload.tag);
    if (attempt === 1) throw new Error('the first attempt fails');
  },
});
queue.handle(kinds.Deferred, {
  run: async ({ payload }, { tx }) => {
    await write(tx.sql, 'soak.deferred', payload.tag);
    if (Math.random() < 0.3) throw new UnavailableError('soak.away', { after: '300ms' });
  },
});
queue.handle(kinds.Slow, {
  run: async ({ attempt, payload }, { tx }) => {
    await write(tx.sql, 'soak.slow', payload.tag);
    if (attempt === 1) await tx.sql.query('SELECT pg_sleep(1)');
  },
});
queue.handle(kinds.Refused, {
  run: async ({ payload }, { tx }) => {
    await write(tx.sql, 'soak.refused', payload.tag);
    return refuse('soak.refused');
  },
});
queue.handle(kinds.Dead, {
  run: async ({ payload }, { tx }) => {
    await write(tx.sql, 'soak.dead', payload.tag);
    throw new PermanentError('soak.dead');
  },
});
queue.handle(
  kinds.Outside,
  {
    run: async ({ payload }, ctx) => {
      await receiver.query(
        'INSERT INTO soak_received (tag) VALUES ($1) ON CONFLICT (tag) DO UPDATE SET times = soak_received.times + 1',
        [payload.tag],
      );
      return ctx.finish(async (tx) => {
        await write(tx.sql, 'soak.outside', payload.tag);
        return done();
      });
    },
  },
  { detached: true },
);
for (const definition of kinds.KEYED)
  queue.handle(definition, {
    run: async ({ payload }, { tx }) => {
      await tx.sql.query('SELECT pg_sleep(0.01)');
      await tx.sql.query('UPDATE soak_request SET seen = true WHERE kind = $1 AND key = $2 AND NOT seen', [
        definition.kind,
        payload.tag,
      ]);
      await write(tx.sql, definition.kind, payload.tag);
    },
  });
queue.handle(kinds.Poller, {
  run: async ({ payload }, { tx }) => {
    await write(tx.sql, 'soak.poller', payload.tag);
    const { rows } = await tx.sql.query('SELECT FROM soak_over');
    return rows.length > 0 ? done() : repeat('1s');
  },
});
queue.duty({ deadline: '10s', every: '3s', name: 'soak.duty' }, (ctx) =>
  ctx.transaction((executor) => executor.query('INSERT INTO soak_duty DEFAULT VALUES')),
);

/** exhaust takes every connection of the handlers' pool for a while. */
async function exhaust(ms: number): Promise<void> {
  const taken = await Promise.allSettled(Array.from({ length: 10 }, () => pool.connect()));
  await new Promise((resolve) => setTimeout(resolve, ms));
  for (const each of taken) if (each.status === 'fulfilled') each.value.release();
  process.send?.({ event: 'relieved' });
}

let ending: Promise<unknown> | undefined;
process.on('SIGTERM', () => {
  ending ??= queue
    .close()
    .then(() => Promise.all([pool.end(), receiver.end()]))
    .then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(3);
      },
    );
});
process.on('message', ({ exhaustMs }: { exhaustMs: number }) => void exhaust(exhaustMs));
setInterval(() => process.send?.({ event: 'memory', rss: process.memoryUsage.rss(), uptime: process.uptime() }), 2_000);

queue.start().then(
  () => process.send?.({ event: 'ready' }),
  (error: unknown) => {
    console.error(error);
    process.exit(2);
  },
);
