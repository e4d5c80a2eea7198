import { ControlConnections } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase, within } from '@holdfast/testing';
import type { Retention } from '../../src/domain/retention.js';
import { AdvisoryLockLeadership } from '../../src/leadership/advisory-lock.leadership.js';
import { AlwaysLeadership } from '../../src/leadership/always.leadership.js';
import type { Duty, DutyOptions } from '../../src/ports/duty.js';
import type { Leadership } from '../../src/ports/leadership.js';
import type { EventOf, QueueEvent } from '../../src/ports/queue.events.js';
import { PostgresDutyLedger } from '../../src/postgres/postgres.duty-ledger.js';
import { PostgresHousekeeping } from '../../src/postgres/postgres.housekeeping.js';
import { PostgresJobStore } from '../../src/postgres/postgres.job-store.js';
import { PostgresRunnerRoster } from '../../src/postgres/postgres.runner-roster.js';
import { checkedPlan, DutyRegistry } from '../../src/scheduler/duty.registry.js';
import { Scheduler } from '../../src/scheduler/scheduler.js';
import type { SchedulerOptions } from '../../src/scheduler/scheduler.options.js';
import { SCHEMA } from '../store.harness.js';

const PATIENCE_MS = 30_000;
const TABLES = [
  'job',
  'job_alias',
  'job_hold',
  'job_progress',
  'job_renewal',
  'job_request',
  'job_retention',
  'leader_duty',
  'runner_presence',
]
  .map((table) => SCHEMA.of(table))
  .join(', ');

/** TestDuty is a duty as a test declares it. */
export type TestDuty = DutyOptions & { readonly run: Duty };

export interface TestSchedulerOptions extends SchedulerOptions {
  readonly kinds?: readonly string[];
  readonly leadership?: 'advisory-lock' | 'always';
  readonly retention?: Retention;
  /** url of every connection, such as a proxy's. Default the database's. */
  readonly url?: string;
}

/** TestScheduler is a scheduler as a process of its own would have it, and everything that it reported. */
export class TestScheduler {
  readonly events: QueueEvent[] = [];
  private readonly listeners = new Set<() => void>();

  constructor(
    readonly scheduler: Scheduler,
    readonly leadership: Leadership,
    private readonly closeParts: () => Promise<void>,
  ) {}

  /** close stops everything, as the end of a process does. */
  async close(): Promise<void> {
    await this.scheduler.stop();
    await this.leadership.close();
    await this.closeParts();
  }

  readonly report = (event: QueueEvent): void => {
    this.events.push(event);
    for (const listener of this.listeners) listener();
  };

  all<T extends QueueEvent['type']>(type: T, where: (event: EventOf<T>) => boolean = () => true): EventOf<T>[] {
    return this.events.filter((event): event is EventOf<T> => event.type === type && where(event as EventOf<T>));
  }

  /** seen answers the first event of a type that matches, also one that was there before; `count` says which. */
  async seen<T extends QueueEvent['type']>(
    type: T,
    where: (event: EventOf<T>) => boolean = () => true,
    count = 1,
  ): Promise<EventOf<T>> {
    const found = () => this.all(type, where)[count - 1];
    const waited = new Promise<EventOf<T>>((resolve) => {
      const look = () => {
        const event = found();
        if (!event) return;
        this.listeners.delete(look);
        resolve(event);
      };
      this.listeners.add(look);
      look();
    });
    const what = () => `${count} of ${type}; there were: ${this.events.map((event) => event.type).join(', ')}`;
    return within(waited, PATIENCE_MS, `${count} of ${type}`).catch((error: unknown) => {
      throw new Error(what(), { cause: error });
    });
  }
}

/** SchedulerStand is a test database with schedulers on it. */
export class SchedulerStand {
  private readonly schedulers: TestScheduler[] = [];

  private constructor(
    readonly db: TestDatabase,
    private readonly defaults: TestSchedulerOptions,
  ) {}

  /** open: `defaults` are those of each of its schedulers. */
  static async open(defaults: TestSchedulerOptions): Promise<SchedulerStand> {
    return new SchedulerStand(await createTestDatabase(), defaults);
  }

  async close(): Promise<void> {
    await this.end();
    await this.db.drop();
  }

  /** end closes every scheduler and empties the tables. */
  async end(): Promise<void> {
    for (const scheduler of this.schedulers.splice(0)) await scheduler.close();
    await this.db.adminQuery(`TRUNCATE ${TABLES}`);
  }

  scheduler(options: TestSchedulerOptions = {}, ...duties: readonly TestDuty[]): TestScheduler {
    const { kinds = [], leadership: kind, retention, url = this.db.url, ...rest } = { ...this.defaults, ...options };
    const config = { connectionString: url };
    const connections = new ControlConnections(config, { applicationName: 'holdfast', deadlineMs: 5_000, max: 2 });
    const keeper = new ControlConnections(config, { applicationName: 'holdfast-keeper', deadlineMs: 5_000, max: 1 });
    const store = new PostgresJobStore({ connections, keeper, schema: SCHEMA });
    const leadership =
      kind === 'always'
        ? new AlwaysLeadership(connections)
        : new AdvisoryLockLeadership(config, { applicationName: 'holdfast-leader', schema: SCHEMA });
    const registry = new DutyRegistry();
    for (const { run, ...duty } of duties)
      registry.register({ ...checkedPlan('the test', duty), identity: run, run, source: `the test's ${duty.name}` });
    const late: { test?: TestScheduler } = {};
    const scheduler = new Scheduler({
      housekeeping: new PostgresHousekeeping(connections, SCHEMA),
      kinds: () => kinds,
      leadership,
      ledger: new PostgresDutyLedger(connections, SCHEMA),
      // The built-in duties stay out of the way unless a test asks for them.
      options: { depthMs: 3_600_000, healthMs: 3_600_000, retentionMs: 3_600_000, unhandledMs: 3_600_000, ...rest },
      registry,
      reporter: { report: (event) => late.test?.report(event) },
      ...(retention && { retention }),
      roster: new PostgresRunnerRoster(connections, SCHEMA),
      store,
    });
    late.test = new TestScheduler(scheduler, leadership, () => store.close());
    this.schedulers.push(late.test);
    return late.test;
  }
}

/** gate is a promise that a test opens. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open: () => open(), opened };
}
