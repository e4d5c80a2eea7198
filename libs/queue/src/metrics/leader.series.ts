import type { Counter, Gauge } from 'prom-client';
import type { DatabaseHealth } from '../ports/housekeeping.js';
import type { EventOf, QueueEvent } from '../ports/queue.events.js';
import { SCHEDULER } from '../scheduler/leader.seat.js';
import { KindFold } from './kind.fold.js';
import type { SeriesFactory } from './series.factory.js';

/** Tables whose dead rows are there at zero from the start; the others come with the first look. */
const HOT_TABLES = ['job', 'job_alias', 'job_hold', 'job_renewal', 'job_request'];
const ENDINGS = ['CANCELLED', 'DEAD_LETTER', 'FAILED', 'SUCCEEDED'];

/** Labelled holds the values of a gauge by label, to be set together. */
type Labelled = Map<string, number>;

/**
 * LeaderSeries are the gauges of what the leader looks at: each process that schedules has them, and all but the leader's are zero (S2).
 *
 * Kinds are those that a runner which is there handles, in whichever process; what waits of others is `__unknown__`.
 */
export class LeaderSeries {
  private readonly deadRows: Gauge<'table'>;
  private readonly deferred: Gauge<'kind'>;
  private readonly deferredAge: Gauge<'kind'>;
  private readonly depth: Gauge<'kind'>;
  private readonly kinds: KindFold;
  private readonly leader: Gauge<'name'>;
  private readonly notifications: Gauge;
  private readonly oldestDue: Gauge<'kind'>;
  private readonly removed: Counter<'kind' | 'state'>;
  private readonly tickLag: Gauge;
  private readonly transactionAge: Gauge;
  private readonly transactionPid: Gauge;
  private readonly unknown: Gauge;
  private readonly xminAge: Gauge;

  constructor(make: SeriesFactory) {
    const seconds = 'in seconds; the leader has it, every other process zero.';
    this.depth = make.gauge('queue_depth', 'Jobs that are due; the leader has it, every other process zero.', ['kind']);
    this.oldestDue = make.gauge(
      'queue_oldest_due_age_seconds',
      `For how long the oldest job has been due, ${seconds}`,
      ['kind'],
    );
    this.deferred = make.gauge(
      'jobs_deferred',
      'Jobs that wait out an outage; the leader has it, every other process zero.',
      ['kind'],
    );
    this.deferredAge = make.gauge(
      'jobs_deferred_oldest_age_seconds',
      `For how long the longest of their outages has lasted, ${seconds}`,
      ['kind'],
    );
    this.unknown = make.gauge('jobs_unknown_kind', 'Jobs that are due and of a kind that no runner handles.', []);
    this.tickLag = make.gauge('scheduler_tick_lag_seconds', 'How late the last tick of the scheduler began.', []);
    this.leader = make.gauge('leader', '1 where this process leads.', ['name']);
    this.removed = make.counter('retention_removed_total', 'Finished jobs that were removed, by how they had ended.', [
      'kind',
      'state',
    ]);
    this.deadRows = make.gauge('postgres_dead_tuples', 'Dead rows of the tables, as the statistics have them.', [
      'table',
    ]);
    this.transactionAge = make.gauge(
      'postgres_oldest_transaction_age_seconds',
      `For how long the oldest transaction of the database has been open, ${seconds}`,
      [],
    );
    this.transactionPid = make.gauge(
      'postgres_oldest_transaction_pid',
      'The process at the server that holds it; 0 where there is none, and for a prepared transaction.',
      [],
    );
    this.xminAge = make.gauge(
      'postgres_oldest_snapshot_age_transactions',
      'How many transactions ago the oldest snapshot was taken that a session of the database holds.',
      [],
    );
    this.notifications = make.gauge(
      'postgres_notification_queue_usage_ratio',
      'The part of the notification queue that is in use; at 1 no NOTIFY commits.',
      [],
    );
    this.kinds = new KindFold((kind) => this.zero(kind));
    this.leader.set({ name: SCHEDULER }, 0);
    this.clear();
  }

  /** admit makes labels of kinds that stand in the code of this process. */
  admit(kinds: readonly string[]): void {
    this.kinds.admit(kinds);
  }

  take(event: QueueEvent): void {
    switch (event.type) {
      case 'leader.elected':
        return this.leader.set({ name: event.name }, 1);
      case 'leader.lost':
      case 'leader.released':
        return this.leader.set({ name: event.name }, 0);
      case 'postgres.health':
        return this.takeHealth(event.health);
      case 'queue.depth':
        return this.takeDepth(event);
      case 'queue.depth_cleared':
        return this.clear();
      case 'retention.swept':
        return this.removed.inc({ kind: this.kinds.labelOf(event.kind), state: event.state }, event.removed);
      case 'runner.started':
        return this.kinds.admit(event.kinds);
      case 'scheduler.tick':
        return this.tickLag.set(event.lagMs / 1_000);
    }
  }

  /** clear: another process leads, and what this one said is old (S2). */
  private clear(): void {
    const none = new Map<string, number>();
    for (const gauge of [this.depth, this.oldestDue, this.deferred, this.deferredAge]) this.setAll(gauge, none);
    for (const gauge of [this.unknown, this.transactionAge, this.transactionPid, this.xminAge, this.notifications])
      gauge.set(0);
    this.deadRows.reset();
    for (const table of HOT_TABLES) this.deadRows.set({ table }, 0);
  }

  private setAll(gauge: Gauge<'kind'>, values: Labelled): void {
    for (const kind of this.kinds.labels) gauge.set({ kind }, values.get(kind) ?? 0);
  }

  private takeDepth({ deferred, handled, kinds }: EventOf<'queue.depth'>): void {
    this.kinds.admit(handled);
    const known = new Set(handled);
    const depths = kinds.map(({ due, kind, oldestDueAgeMs }) => ({ ageMs: oldestDueAgeMs, count: due, kind }));
    this.setPair(this.depth, this.oldestDue, depths);
    this.setPair(
      this.deferred,
      this.deferredAge,
      deferred.map(({ deferred: count, kind, oldestAgeMs: ageMs }) => ({ ageMs, count, kind })),
    );
    this.unknown.set(depths.reduce((sum, { count, kind }) => sum + (known.has(kind) ? 0 : count), 0));
  }

  private setPair(
    count: Gauge<'kind'>,
    age: Gauge<'kind'>,
    found: readonly { readonly ageMs: number; readonly count: number; readonly kind: string }[],
  ): void {
    const counts: Labelled = new Map();
    const ages: Labelled = new Map();
    for (const one of found) {
      const label = this.kinds.labelOf(one.kind);
      counts.set(label, (counts.get(label) ?? 0) + one.count);
      ages.set(label, Math.max(ages.get(label) ?? 0, one.ageMs / 1_000));
    }
    this.setAll(count, counts);
    this.setAll(age, ages);
  }

  private takeHealth({ deadRows, notificationQueueUsage, oldestTransaction, oldestXminAge }: DatabaseHealth): void {
    for (const [table, rows] of Object.entries(deadRows)) this.deadRows.set({ table }, rows);
    this.transactionAge.set((oldestTransaction?.ageMs ?? 0) / 1_000);
    this.transactionPid.set(oldestTransaction?.pid ?? 0);
    this.xminAge.set(oldestXminAge);
    this.notifications.set(notificationQueueUsage);
  }

  private zero(kind: string): void {
    for (const state of ENDINGS) this.removed.inc({ kind, state }, 0);
    for (const gauge of [this.depth, this.oldestDue, this.deferred, this.deferredAge]) gauge.set({ kind }, 0);
  }
}
