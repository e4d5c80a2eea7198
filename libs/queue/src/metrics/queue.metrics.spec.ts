import { Registry } from 'prom-client';
import { defineJob } from '../domain/definition.js';
import { type } from '../domain/payload.schema.js';
import { EventStream } from '../ports/event.stream.js';
import type { QueueEvent } from '../ports/queue.events.js';
import type { RunnerVitals } from '../ports/runner.vitals.js';
import { queueMetrics } from './queue.metrics.js';

const Mail = defineJob('mail.send', { payload: type<object>() });
const error = new Error('with a text of a user');
const run = (kind = 'mail.send', id = '1') => ({ attempt: 1, id, kind, tenantId: 'a tenant' });
const depth = (kind: string, due: number, oldestDueAgeMs: number) => ({ due, kind, oldestDueAgeMs });

describe('QueueMetrics', () => {
  const setUp = (runningByKind: Record<string, number> = {}) => {
    const registry = new Registry();
    const [jobs, runner, scheduler] = [new EventStream(), new EventStream(), new EventStream()];
    const vitals = { kinds: [] as string[], runningByKind } as unknown as RunnerVitals;
    const sources = { jobs: { events: jobs }, runner: { events: runner, vitals }, scheduler: { events: scheduler } };
    const metrics = queueMetrics(sources, { produces: [Mail], registry });
    return { jobs, metrics, registry, runner, scheduler, sources };
  };
  type Stand = ReturnType<typeof setUp>;

  /** seriesOf answers the value of every series; of a histogram its count and its sum. */
  const seriesOf = async ({ registry }: Pick<Stand, 'registry'>): Promise<Record<string, number>> => {
    const metrics = await registry.getMetricsAsJSON();
    const all = metrics.flatMap(({ name, values }) =>
      (values as { labels: Record<string, string>; metricName?: string; value: number }[])
        .filter(({ metricName }) => !metricName?.endsWith('_bucket'))
        .map(({ labels, metricName, value }) => {
          const shown = Object.entries(labels)
            .sort()
            .map(([label, text]) => `${label}=${text}`);
          return [`${metricName ?? name}{${shown.join(',')}}`.replace('holdfast_', ''), value] as const;
        }),
    );
    return Object.fromEntries(all);
  };

  /** moved answers the series that are different after the events. */
  const moved = async (stand: Stand, stream: EventStream, ...events: QueueEvent[]) => {
    const before = await seriesOf(stand);
    for (const event of events) stream.report(event);
    const after = await seriesOf(stand);
    return Object.fromEntries(Object.entries(after).filter(([name, value]) => before[name] !== value));
  };

  it('M1: every series is there at zero from the start, for the kinds of this process and for all others together', async () => {
    const stand = setUp();
    const series = await seriesOf(stand);
    const names = new Set(Object.keys(series).map((name) => name.replace(/\{.*/, '')));
    expect([...names].sort()).toEqual(
      [
        'attempts_failed_total',
        'job_duration_seconds_count',
        'job_duration_seconds_sum',
        'job_wait_seconds_count',
        'job_wait_seconds_sum',
        'jobs_claimed_total',
        'jobs_dead_lettered_total',
        'jobs_deferred',
        'jobs_deferred_oldest_age_seconds',
        'jobs_enqueued_total',
        'jobs_finished_total',
        'jobs_handler_overrun_total',
        'jobs_lease_lost_total',
        'jobs_running',
        'jobs_unknown_kind',
        'leader',
        'postgres_dead_tuples',
        'postgres_notification_queue_usage_ratio',
        'postgres_oldest_snapshot_age_transactions',
        'postgres_oldest_transaction_age_seconds',
        'postgres_oldest_transaction_pid',
        'queue_depth',
        'queue_oldest_due_age_seconds',
        'retention_removed_total',
        'scheduler_tick_lag_seconds',
      ].sort(),
    );
    expect(Object.values(series).every((value) => value === 0)).toBe(true);
    expect(series).toHaveProperty(['jobs_finished_total{kind=mail.send,result=succeeded}'], 0);
    expect(series).toHaveProperty(['jobs_finished_total{kind=__unknown__,result=succeeded}'], 0);
    expect(series).toHaveProperty(['queue_depth{kind=mail.send}'], 0);
  });

  it('M1: kinds that have a handler here are there at zero when the runner starts', async () => {
    const stand = setUp();
    const connections = [{ connections: 1, role: 'a' }];
    stand.runner.report({ type: 'runner.started', connections, kinds: ['mail.sort'], slots: 1, warnings: [] });
    expect(await seriesOf(stand)).toMatchObject({
      'attempts_failed_total{class=permanent,kind=mail.sort}': 0,
      'job_wait_seconds_count{kind=mail.sort}': 0,
      'jobs_running{kind=mail.sort}': 0,
    });
  });

  it('M4: an enqueue counts by its answer, and as unconfirmed where the end of its transaction cannot be known', async () => {
    const stand = setUp();
    const event = { type: 'job.enqueued', jobs: 2, kind: 'mail.send' } as const;
    for (const disposition of ['created', 'existing', 'requested'] as const)
      expect(await moved(stand, stand.jobs, { ...event, confirmed: true, disposition })).toEqual({
        [`jobs_enqueued_total{disposition=${disposition},kind=mail.send}`]: 2,
      });
    expect(await moved(stand, stand.jobs, { ...event, confirmed: false, disposition: 'created' })).toEqual({
      'jobs_enqueued_total{disposition=unconfirmed,kind=mail.send}': 2,
    });
    expect(
      await moved(stand, stand.jobs, { ...event, confirmed: true, disposition: 'created', kind: 'user.made' }),
    ).toEqual({ 'jobs_enqueued_total{disposition=created,kind=__unknown__}': 2 });
  });

  const ends: [QueueEvent, Record<string, number>][] = [
    [
      { type: 'job.completed', counts: undefined, outcome: null, ranMs: 500, run: run(), verb: 'complete' },
      { 'jobs_finished_total{kind=mail.send,result=succeeded}': 1 },
    ],
    [
      { type: 'job.completed', counts: undefined, outcome: null, ranMs: 500, run: run(), verb: 'repeat' },
      { 'jobs_finished_total{kind=mail.send,result=repeated}': 1 },
    ],
    [
      { type: 'job.cancelled', error, ranMs: 500, run: run() },
      { 'jobs_finished_total{kind=mail.send,result=cancelled}': 1 },
    ],
    [
      { type: 'job.refused', code: 'a.b', ranMs: 500, run: run() },
      { 'jobs_finished_total{kind=mail.send,result=refused}': 1 },
    ],
    [
      { type: 'job.retried', code: 'a.b', delayMs: 1, error, failureClass: 'retryable', ranMs: 500, run: run() },
      { 'attempts_failed_total{class=retryable,kind=mail.send}': 1 },
    ],
    [
      {
        type: 'job.deferred',
        code: 'a.b',
        delayMs: 1,
        error,
        failureClass: 'unavailable',
        ranMs: 500,
        run: run(),
        verb: 'defer',
      },
      { 'attempts_failed_total{class=unavailable,kind=mail.send}': 1 },
    ],
    [
      {
        type: 'job.deferred',
        code: 'a.b',
        delayMs: 1,
        error,
        failureClass: 'unavailable',
        ranMs: 500,
        run: run(),
        verb: 'lose',
      },
      { 'attempts_failed_total{class=connection_lost,kind=mail.send}': 1 },
    ],
    [
      { type: 'job.dead_lettered', code: 'a.b', error, failureClass: 'permanent', ranMs: 500, run: run() },
      {
        'attempts_failed_total{class=permanent,kind=mail.send}': 1,
        'jobs_dead_lettered_total{kind=mail.send}': 1,
        'jobs_finished_total{kind=mail.send,result=dead_lettered}': 1,
      },
    ],
    [{ type: 'job.lost', error, ranMs: 500, run: run() }, { 'jobs_lease_lost_total{kind=mail.send}': 1 }],
  ];
  it.each(ends)('M1: the end of an attempt: %j', async (event, series) => {
    const stand = setUp();
    expect(await moved(stand, stand.runner, event)).toEqual({
      ...series,
      'job_duration_seconds_count{kind=mail.send}': 1,
      'job_duration_seconds_sum{kind=mail.send}': 0.5,
    });
  });

  it('M1: claims and waits, runs, overruns, and what is reaped', async () => {
    const stand = setUp({ 'mail.send': 3, 'user.made': 2 });
    expect(await seriesOf(stand)).toMatchObject({
      'jobs_running{kind=__unknown__}': 2,
      'jobs_running{kind=mail.send}': 3,
    });
    expect(await moved(stand, stand.runner, { type: 'job.started', run: run(), waitedMs: 1_500 })).toEqual({
      'job_wait_seconds_count{kind=mail.send}': 1,
      'job_wait_seconds_sum{kind=mail.send}': 1.5,
      'jobs_claimed_total{kind=mail.send}': 1,
    });
    const overrun = { type: 'job.overrun', overMs: 1, run: run() } as const;
    expect(await moved(stand, stand.runner, { ...overrun, returned: false }, { ...overrun, returned: true })).toEqual({
      'jobs_handler_overrun_total{kind=mail.send}': 1,
    });
    const kind = 'mail.send';
    const result = { cancelled: [{ id: '1', kind }], deadLettered: [{ id: '2', kind }], returned: [{ id: '3', kind }] };
    expect(await moved(stand, stand.runner, { type: 'reap.done', result })).toEqual({
      'attempts_failed_total{class=lease_expired,kind=mail.send}': 2,
      'jobs_dead_lettered_total{kind=mail.send}': 1,
      'jobs_finished_total{kind=mail.send,result=cancelled}': 1,
      'jobs_finished_total{kind=mail.send,result=dead_lettered}': 1,
    });
  });

  it('R10, M1: depth, deferrals and kinds that nobody handles, of every process, and S2: a former leader clears them', async () => {
    const stand = setUp();
    const started = await seriesOf(stand);
    const told: QueueEvent = {
      type: 'queue.depth',
      deferred: [{ deferred: 4, kind: 'mail.send', oldestAgeMs: 60_000 }],
      handled: ['mail.send', 'mail.elsewhere'],
      kinds: [
        depth('mail.send', 2, 1_000),
        depth('mail.elsewhere', 5, 2_000),
        depth('user.made', 7, 3_000),
        depth('user.other', 1, 9_000),
      ],
    };
    expect(await moved(stand, stand.scheduler, told)).toMatchObject({
      'jobs_deferred{kind=mail.send}': 4,
      'jobs_deferred_oldest_age_seconds{kind=mail.send}': 60,
      'jobs_unknown_kind{}': 8,
      'queue_depth{kind=__unknown__}': 8,
      'queue_depth{kind=mail.elsewhere}': 5,
      'queue_depth{kind=mail.send}': 2,
      'queue_oldest_due_age_seconds{kind=__unknown__}': 9,
      'queue_oldest_due_age_seconds{kind=mail.elsewhere}': 2,
    });
    const oldestTransaction = { ageMs: 90_000, applicationName: 'psql', holder: 'process 7', pid: 7 };
    const health = { deadRows: { job: 9 }, notificationQueueUsage: 0.25, oldestTransaction, oldestXminAge: 1_000 };
    expect(await moved(stand, stand.scheduler, { type: 'postgres.health', health })).toEqual({
      'postgres_dead_tuples{table=job}': 9,
      'postgres_notification_queue_usage_ratio{}': 0.25,
      'postgres_oldest_snapshot_age_transactions{}': 1_000,
      'postgres_oldest_transaction_age_seconds{}': 90,
      'postgres_oldest_transaction_pid{}': 7,
    });
    stand.scheduler.report({ type: 'queue.depth_cleared' });
    const cleared = await seriesOf(stand);
    expect(cleared).toMatchObject(started);
    expect(Object.values(cleared).every((value) => value === 0)).toBe(true);
  });

  it('M1: the leader, the lag of its ticks, and what retention removed', async () => {
    const stand = setUp();
    const name = 'holdfast.scheduler';
    const series = `leader{name=${name}}`;
    expect(await moved(stand, stand.scheduler, { type: 'leader.elected', name })).toEqual({ [series]: 1 });
    expect(await moved(stand, stand.scheduler, { type: 'leader.lost', error, name })).toEqual({ [series]: 0 });
    stand.scheduler.report({ type: 'leader.elected', name });
    expect(await moved(stand, stand.scheduler, { type: 'leader.released', name })).toEqual({ [series]: 0 });
    expect(await moved(stand, stand.scheduler, { type: 'scheduler.tick', isLeader: true, lagMs: 250 })).toEqual({
      'scheduler_tick_lag_seconds{}': 0.25,
    });
    const swept = { type: 'retention.swept', more: false, removed: 3, state: 'FAILED' } as const;
    expect(
      await moved(stand, stand.scheduler, { ...swept, kind: 'mail.send' }, { ...swept, kind: 'user.made' }),
    ).toEqual({
      'retention_removed_total{kind=__unknown__,state=FAILED}': 3,
      'retention_removed_total{kind=mail.send,state=FAILED}': 3,
    });
  });

  it('K144: 10,000 jobs, 500 kinds that users made and 500 texts of errors are no more series than one of each', async () => {
    const stand = setUp();
    const before = Object.keys(await seriesOf(stand)).length;
    for (let i = 0; i < 10_000; i += 1) {
      const kind = `user.kind${i % 500}`;
      const failed = new Error(`text ${i % 500}`);
      const ref = run(kind, String(i));
      stand.jobs.report({ type: 'job.enqueued', confirmed: true, disposition: 'created', jobs: 1, kind });
      stand.runner.report({ type: 'job.started', run: ref, waitedMs: i });
      stand.runner.report({
        type: 'job.retried',
        code: `code.c${i % 500}`,
        delayMs: 1,
        error: failed,
        failureClass: 'retryable',
        ranMs: i,
        run: ref,
      });
    }
    const kinds = Array.from({ length: 500 }, (_, i) => depth(`user.kind${i}`, 1, 1));
    stand.scheduler.report({ type: 'queue.depth', deferred: [], handled: ['mail.send'], kinds });
    const after = await seriesOf(stand);
    expect(Object.keys(after)).toHaveLength(before);
    expect(after).toMatchObject({
      'jobs_claimed_total{kind=__unknown__}': 10_000,
      'jobs_unknown_kind{}': 500,
    });
  });

  it('M1: a second queue on one registry is refused with the way out, and the first stays whole', async () => {
    const stand = setUp();
    expect(() => queueMetrics(stand.sources, { registry: stand.registry })).toThrow(
      expect.objectContaining({ code: 'queue.duplicate_metrics', message: expect.stringContaining('of its own') }),
    );
    expect(Object.keys(await seriesOf(stand))).not.toHaveLength(0);
    stand.metrics.close();
    stand.metrics.close();
    expect(await stand.registry.getMetricsAsJSON()).toEqual([]);
    queueMetrics(stand.sources, { registry: stand.registry }).close();
  });

  it('S2: a process that does not schedule has none of the series of the leader', async () => {
    const registry = new Registry();
    queueMetrics({ jobs: { events: new EventStream() } }, { registry });
    expect(registry.getSingleMetric('holdfast_queue_depth')).toBeUndefined();
    expect(registry.getSingleMetric('holdfast_jobs_enqueued_total')).toBeDefined();
  });

  it('refuses what is no definition under produces', () => {
    for (const produces of [['mail.send'], [undefined], Mail]) {
      const given = { produces: produces as never, registry: new Registry() };
      expect(() => queueMetrics({ jobs: { events: new EventStream() } }, given)).toThrow(
        expect.objectContaining({ code: 'queue.invalid_options', message: expect.stringContaining('produces') }),
      );
    }
  });
});
