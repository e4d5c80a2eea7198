import { pgPool } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase, waitFor } from '@holdfast/testing';
import { Registry } from 'prom-client';
import { createQueue, type HoldfastQueue } from '../../src/assembly/holdfast.queue.js';
import { defineJob } from '../../src/domain/definition.js';
import { refuse } from '../../src/domain/outcome.js';
import { type } from '../../src/domain/payload.schema.js';
import { PermanentError, UnavailableError } from '@holdfast/kernel/pure';
import { HEALTH } from '../../src/scheduler/scheduler.js';
import { queueMetrics } from '../../src/metrics/queue.metrics.js';
import { untilValue, valueOf } from './metrics.stand.js';

type How = 'away' | 'done' | 'fails' | 'holds' | 'never' | 'refuses';
const Act = defineJob('act.now', { payload: type<{ how: How }>() });
const kind = 'act.now';

describe('M1: the series of a queue that works', () => {
  let db: TestDatabase;
  let queue: HoldfastQueue;
  let registry: Registry;
  let release: () => void;

  beforeAll(async () => {
    db = await createTestDatabase();
    queue = createQueue({
      database: pgPool(db.pool({ max: 20 })),
      run: { poll: '50ms' },
      schedule: { depthMs: 200, healthMs: 200, tickMs: 5_000 },
    });
    registry = new Registry();
    queueMetrics(queue, { registry });
    const held = new Promise<void>((resolve) => (release = resolve));
    queue.handle(Act, {
      run: async ({ payload: { how } }) => {
        if (how === 'refuses') return refuse('act.not_allowed');
        if (how === 'fails') throw new Error('no');
        if (how === 'away') throw new UnavailableError('act.away', { after: '1h' });
        if (how === 'never') throw new PermanentError('act.never');
        if (how === 'holds') await held;
        return undefined;
      },
    });
    await queue.start();
  });
  afterAll(async () => {
    await queue.close();
    await db.drop();
  });

  const enqueue = (...hows: How[]) =>
    queue.jobs.enqueueMany(
      hows.map((how) => Act.request({ how })),
      { in: 'own' },
    );

  it('M1: claims, waits, ends and failures of real jobs', async () => {
    await enqueue('done', 'done', 'refuses', 'fails', 'never', 'away');
    await untilValue(registry, 'jobs_finished_total', { kind, result: 'succeeded' }, 2);
    await untilValue(registry, 'jobs_finished_total', { kind, result: 'refused' }, 1);
    await untilValue(registry, 'jobs_finished_total', { kind, result: 'dead_lettered' }, 1);
    await untilValue(registry, 'jobs_dead_lettered_total', { kind }, 1);
    await untilValue(registry, 'attempts_failed_total', { class: 'retryable', kind }, 1);
    await untilValue(registry, 'attempts_failed_total', { class: 'permanent', kind }, 1);
    await untilValue(registry, 'attempts_failed_total', { class: 'unavailable', kind }, 1);
    await untilValue(registry, 'job_duration_seconds', { kind }, 6);
    expect(await valueOf(registry, 'jobs_claimed_total', { kind })).toBe(6);
    expect(await valueOf(registry, 'job_wait_seconds', { kind })).toBe(6);
  });

  it('R10: the jobs that wait out an outage, and for how long, by the leader', async () => {
    await untilValue(registry, 'jobs_deferred', { kind }, 1);
    await db.adminQuery(
      `UPDATE holdfast.job SET deferred_since = deferred_since - interval '1 hour' WHERE deferred_since IS NOT NULL`,
    );
    await waitFor(async () => (await valueOf(registry, 'jobs_deferred_oldest_age_seconds', { kind }))! > 3_500, {
      what: 'the outage to be an hour old',
    });
  });

  it('M1: what runs now', async () => {
    await enqueue('holds');
    await untilValue(registry, 'jobs_running', { kind }, 1);
    release();
    await untilValue(registry, 'jobs_running', { kind }, 0);
  });

  it('M1, S6: what is due of kinds that nobody handles, folded', async () => {
    await db.adminQuery(
      `INSERT INTO holdfast.job (kind, payload, due_at) SELECT 'user.kind' || i % 500, '{}', now() - interval '5 min' FROM generate_series(1, 700) i`,
    );
    await untilValue(registry, 'jobs_unknown_kind', {}, 700);
    await untilValue(registry, 'queue_depth', { kind: '__unknown__' }, 700);
    expect(await valueOf(registry, 'queue_oldest_due_age_seconds', { kind: '__unknown__' })).toBeGreaterThan(290);
    expect(await valueOf(registry, 'queue_depth', { kind })).toBe(0);
    expect(await valueOf(registry, 'leader', { name: 'holdfast.scheduler' })).toBe(1);
  });

  it('M3: who holds the oldest transaction, and for how long, without what it runs', async () => {
    const client = await db.client({ application_name: 'a report' });
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    const { rows } = await client.query<{ pid: number }>(`SELECT pg_backend_pid() AS pid, 'a secret' AS secret`);
    await untilValue(registry, 'postgres_oldest_transaction_pid', {}, rows[0]!.pid);
    const { health } = await queue.scheduler.events.next('postgres.health');
    expect(health.oldestTransaction).toMatchObject({ applicationName: 'a report', pid: rows[0]!.pid });
    expect(JSON.stringify(health)).not.toContain('secret');
    await client.query('SELECT pg_sleep(0.05)');
    await waitFor(async () => (await valueOf(registry, 'postgres_oldest_transaction_age_seconds'))! > 0.05, {
      what: 'the age of the transaction',
    });
    await client.query('ROLLBACK');
    await untilValue(registry, 'postgres_oldest_transaction_pid', {}, 0);
  });

  it('M3: dead rows of the tables and the notification queue', async () => {
    await db.adminQuery('ALTER TABLE holdfast.job_alias SET (autovacuum_enabled = off)');
    const pool = db.pool({ max: 1 });
    await pool.query('INSERT INTO holdfast.job_alias SELECT i, i FROM generate_series(1, 300) i');
    await pool.query('DELETE FROM holdfast.job_alias');
    // A session reports what it did to the statistics at its end at the latest.
    await pool.end();
    await waitFor(async () => (await valueOf(registry, 'postgres_dead_tuples', { table: 'job_alias' }))! >= 300, {
      what: 'the dead rows to be seen',
    });
    expect(await valueOf(registry, 'postgres_notification_queue_usage_ratio')).toBe(0);
    const names = (await queue.scheduler.lastRuns()).map(({ name }) => name);
    expect(names).toContain(HEALTH);
  });

  it('S2: a leader that stops clears what it said of the whole queue', async () => {
    await queue.scheduler.stop();
    expect(await valueOf(registry, 'queue_depth', { kind: '__unknown__' })).toBe(0);
    expect(await valueOf(registry, 'jobs_unknown_kind')).toBe(0);
    expect(await valueOf(registry, 'jobs_deferred', { kind })).toBe(0);
    expect(await valueOf(registry, 'postgres_dead_tuples', { table: 'job_alias' })).toBe(0);
    expect(await valueOf(registry, 'leader', { name: 'holdfast.scheduler' })).toBe(0);
  });
});
