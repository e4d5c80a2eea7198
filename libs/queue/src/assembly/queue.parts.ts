import { ControlConnections, type Database, directConfigOf, UnitOfWork } from '@holdfast/kernel';
import type { ClientConfig } from 'pg';
import { JobQueue } from '../client/job-queue.js';
import type { JobHandlerRegistry } from '../handlers/job-handler.registry.js';
import type { JobInterceptorRegistry } from '../handlers/job-interceptor.registry.js';
import { AdvisoryLockLeadership } from '../leadership/advisory-lock.leadership.js';
import { AlwaysLeadership } from '../leadership/always.leadership.js';
import { NeverLeadership } from '../leadership/never.leadership.js';
import type { DutyLedger } from '../ports/duty.ledger.js';
import type { Housekeeping } from '../ports/housekeeping.js';
import type { JobStore } from '../ports/job-store.js';
import type { Jobs } from '../ports/jobs.js';
import type { Leadership } from '../ports/leadership.js';
import type { Reporter } from '../ports/reporter.js';
import type { RunnerRoster } from '../ports/runner.roster.js';
import type { Waking } from '../ports/waking.js';
import { PostgresDutyLedger } from '../postgres/postgres.duty-ledger.js';
import { PostgresHousekeeping } from '../postgres/postgres.housekeeping.js';
import { PostgresJobStore } from '../postgres/postgres.job-store.js';
import { PostgresJobs } from '../postgres/postgres.jobs.js';
import { PostgresWaking } from '../postgres/postgres.waking.js';
import { PostgresRunnerRoster } from '../postgres/postgres.runner-roster.js';
import { Runner } from '../runner/runner.js';
import type { DutyRegistry } from '../scheduler/duty.registry.js';
import { Scheduler } from '../scheduler/scheduler.js';
import type { ResolvedQueueOptions } from './queue.options.js';

/** The parts of a queue and how each is made from the options and the others: once for NestJS, once without it. */

/** The most connections of control traffic in one process (R19). */
const CONTROL_CONNECTIONS = 4;
const CONTROL_DEADLINE_MS = 10_000;
/** Nothing is worth waiting for when the queue is closed: the drain was before. A frozen network must not hold up the end (R17). */
const CLOSE_WITHIN_MS = 2_000;

/** connectionConfigOf answers how the queue's own connections connect. */
export function connectionConfigOf({ database, directUrl }: ResolvedQueueOptions): ClientConfig {
  const config = database.connectionConfig();
  return directUrl === undefined ? config : directConfigOf(config, directUrl);
}

/** connectionsOf makes the queue's own connections; none is opened before the first statement. */
export function connectionsOf(options: ResolvedQueueOptions): ControlConnections {
  return controlConnections(options, 'holdfast', CONTROL_CONNECTIONS);
}

export function housekeepingOf(options: ResolvedQueueOptions, connections: ControlConnections): Housekeeping {
  return new PostgresHousekeeping(connections, options.schema);
}

/** jobQueueOf makes what producers use; `runner`, where this process has one, learns of what they commit. */
export function jobQueueOf(
  options: ResolvedQueueOptions,
  database: Database,
  store: JobStore,
  runner?: Runner,
  reporter?: Reporter,
): JobQueue {
  const { kinds, payloadLimitBytes, tenantSetting, transactionHost } = options;
  const maxAttemptsOf = (kind: string) => (Object.hasOwn(kinds, kind) ? kinds[kind]?.maxAttempts : undefined);
  const enqueued = () => runner?.enqueued();
  const tenancy = tenantSetting !== undefined;
  return new JobQueue({
    database,
    enqueued,
    maxAttemptsOf,
    payloadLimitBytes,
    reporter,
    store,
    tenancy,
    transactionHost,
  });
}

/** jobsOf makes what people and routes use; `runner`, where this process has one, learns of what they make due. */
export function jobsOf(options: ResolvedQueueOptions, connections: ControlConnections, runner?: Runner): Jobs {
  const changed = () => runner?.enqueued();
  return new PostgresJobs(connections, options.schema, { changed, redactPayload: options.redactPayload });
}

/** leadershipOf makes who decides who leads; nothing is opened before somebody stands. */
export function leadershipOf(options: ResolvedQueueOptions, connections: ControlConnections): Leadership {
  if (options.leadership === 'never') return new NeverLeadership();
  if (options.leadership === 'always') return new AlwaysLeadership(connections);
  return new AdvisoryLockLeadership(() => connectionConfigOf(options), { schema: options.schema });
}

export function ledgerOf(options: ResolvedQueueOptions, connections: ControlConnections): DutyLedger {
  return new PostgresDutyLedger(connections, options.schema);
}

export function rosterOf(options: ResolvedQueueOptions, connections: ControlConnections): RunnerRoster {
  return new PostgresRunnerRoster(connections, options.schema);
}

export function runnerOf(
  options: ResolvedQueueOptions,
  parts: {
    database: Database;
    interceptors: JobInterceptorRegistry;
    /** leadership, where this process schedules too: its connections are part of the sum (R19). */
    leadership: Leadership | undefined;
    /** probe, where the health of this process can be asked: its connection as well. */
    probe?: { readonly connections: Readonly<Record<string, number>> };
    registry: JobHandlerRegistry;
    reporter: Reporter;
    roster: RunnerRoster;
    store: JobStore;
  },
): Runner {
  const { leadership, probe, ...rest } = parts;
  const connections = { ...leadership?.connections, ...probe?.connections };
  return new Runner({ ...rest, connections, options: options.run, waking: wakingOf(options) });
}

export function schedulerOf(
  options: ResolvedQueueOptions,
  parts: {
    duties: DutyRegistry;
    /** handlers of this process; undefined where it runs no jobs. */
    handlers: JobHandlerRegistry | undefined;
    housekeeping: Housekeeping;
    leadership: Leadership;
    ledger: DutyLedger;
    reporter: Reporter;
    roster: RunnerRoster;
    store: JobStore;
  },
): Scheduler {
  const { duties, handlers, ...rest } = parts;
  const { retention, schedule } = options;
  return new Scheduler({ ...rest, kinds: () => handlers?.kinds ?? [], options: schedule, registry: duties, retention });
}

export function storeOf(options: ResolvedQueueOptions, connections: ControlConnections): JobStore {
  // Renewals have a connection to themselves, so that nothing delays them (R7).
  const keeper = controlConnections(options, 'holdfast-keeper', 1);
  return new PostgresJobStore({ connections, keeper, schema: options.schema });
}

export function unitOfWorkOf({ tenantSetting }: ResolvedQueueOptions, database: Database): UnitOfWork {
  return new UnitOfWork(database, tenantSetting === undefined ? {} : { tenantSetting });
}

/** wakingOf makes what hears of the commits of others; nothing is opened before the runner starts. */
export function wakingOf(options: ResolvedQueueOptions): Waking | undefined {
  if (options.notifications === 'off') return undefined;
  return new PostgresWaking(() => connectionConfigOf(options), options.schema);
}

function controlConnections(options: ResolvedQueueOptions, applicationName: string, max: number): ControlConnections {
  const { preparedStatements } = options;
  const config = () => connectionConfigOf(options);
  return new ControlConnections(config, {
    applicationName,
    closeWithinMs: CLOSE_WITHIN_MS,
    deadlineMs: CONTROL_DEADLINE_MS,
    max,
    preparedStatements,
  });
}
