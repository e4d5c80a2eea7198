import { ControlConnections, type Database, directConfigOf, UnitOfWork } from '@holdfast/kernel';
import type { ClientConfig } from 'pg';
import { JobQueue } from '../client/job-queue.js';
import type { JobHandlerRegistry } from '../handlers/job-handler.registry.js';
import type { JobInterceptorRegistry } from '../handlers/job-interceptor.registry.js';
import type { JobStore } from '../ports/job-store.js';
import type { Jobs } from '../ports/jobs.js';
import type { Reporter } from '../ports/reporter.js';
import { PostgresJobStore } from '../postgres/postgres.job-store.js';
import { PostgresJobs } from '../postgres/postgres.jobs.js';
import { Runner } from '../runner/runner.js';
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

/** jobQueueOf makes what producers use; `runner`, where this process has one, learns of what they commit. */
export function jobQueueOf(
  options: ResolvedQueueOptions,
  database: Database,
  store: JobStore,
  runner?: Runner,
): JobQueue {
  const { kinds, payloadLimitBytes, tenantSetting } = options;
  const maxAttemptsOf = (kind: string) => (Object.hasOwn(kinds, kind) ? kinds[kind]?.maxAttempts : undefined);
  const enqueued = () => runner?.enqueued();
  const tenancy = tenantSetting !== undefined;
  return new JobQueue({ database, enqueued, maxAttemptsOf, payloadLimitBytes, store, tenancy });
}

export function jobsOf(options: ResolvedQueueOptions, connections: ControlConnections): Jobs {
  return new PostgresJobs(connections, options.schema);
}

export function runnerOf(
  options: ResolvedQueueOptions,
  parts: {
    database: Database;
    interceptors: JobInterceptorRegistry;
    registry: JobHandlerRegistry;
    reporter: Reporter;
    store: JobStore;
  },
): Runner {
  return new Runner({ ...parts, options: options.run });
}

export function storeOf(options: ResolvedQueueOptions, connections: ControlConnections): JobStore {
  // Renewals have a connection to themselves, so that nothing delays them (R7).
  const keeper = controlConnections(options, 'holdfast-keeper', 1);
  return new PostgresJobStore({ connections, keeper, schema: options.schema });
}

export function unitOfWorkOf({ tenantSetting }: ResolvedQueueOptions, database: Database): UnitOfWork {
  return new UnitOfWork(database, tenantSetting === undefined ? {} : { tenantSetting });
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
