import type { ControlConnections, Database } from '@holdfast/kernel';
import { ControlConnections as Connections, property } from '@holdfast/kernel';
import { HoldfastQueue } from '../../assembly/holdfast.queue.js';
import type { ResolvedQueueOptions } from '../../assembly/queue.options.js';
import type { AnyJobDefinition } from '../../domain/definition.js';
import { encodeRequest, type EncodedRequest, type JobRequest } from '../../domain/request.js';
import { JobHandlerRegistry } from '../../handlers/job-handler.registry.js';
import { JobInterceptorRegistry } from '../../handlers/job-interceptor.registry.js';
import type { HandlerEntry } from '../../handlers/handler.entry.js';
import { QUEUE_OPTIONS } from '../../module/queue.module-options.js';
import { JobStore } from '../../ports/job-store.js';
import { Jobs } from '../../ports/jobs.js';
import type { QueueEvent } from '../../ports/queue.events.js';
import { Reporter } from '../../ports/reporter.js';
import { Runner } from '../../runner/runner.js';
import { KitError } from './kit.errors.js';

/** NestContext is the part of a NestJS application, of a TestingModule or of an application context that the kit needs. */
export interface NestContext {
  get(token: never, options: never): unknown;
}

/** TestedApplication is what the kit works on: a NestJS application or TestingModule after `init()`, or a queue that `createQueue` made. */
export type TestedApplication = HoldfastQueue | NestContext;

/** TestedQueue is the queue inside a tested application: its real parts, its runner standing still or not. */
export interface TestedQueue {
  readonly connections: ControlConnections;
  readonly database: Database;
  readonly interceptors: JobInterceptorRegistry;
  readonly lookup: Jobs;
  readonly options: ResolvedQueueOptions;
  readonly registry: JobHandlerRegistry;
  readonly store: JobStore;
  /** tell hands an event on as the application's own runner would: to its reporter and to its listeners. */
  tell(event: QueueEvent): void;
}

/** isTestedApplication tells a queue or an application from a transaction. */
export function isTestedApplication(given: unknown): given is TestedApplication {
  return given instanceof HoldfastQueue || typeof property(given, 'get') === 'function';
}

/** testedQueue finds the queue of an application. Throws KitError where there is none, and where the process has no role that runs jobs. */
export function testedQueue(app: TestedApplication): TestedQueue {
  if (app instanceof HoldfastQueue) return ofPlainQueue(app);
  const { found, get } = lookIn(app);
  const options = get<ResolvedQueueOptions>(QUEUE_OPTIONS, 'The application has no queue: import QueueModule.forRoot.');
  const norun = "This process runs no jobs: give QueueModule the role 'run', or leave `roles` and HOLDFAST_ROLES out.";
  const runner = get(Runner, norun);
  const reporter = found<Reporter>(Reporter);
  return {
    connections: get(Connections, norun),
    database: options.database,
    interceptors: get(JobInterceptorRegistry, norun),
    lookup: get(Jobs, norun),
    options,
    registry: get(JobHandlerRegistry, norun),
    store: get(JobStore, norun),
    tell: (event) => {
      runner.events.report(event);
      report(reporter, event);
    },
  };
}

/** encodeFor makes a request of a definition as the application's JobQueue would. */
export function encodeFor({ options }: TestedQueue, request: JobRequest): Promise<EncodedRequest> {
  const { kinds, payloadLimitBytes, tenantSetting } = options;
  const { kind } = request.definition;
  const maxAttempts = Object.hasOwn(kinds, kind) ? kinds[kind]?.maxAttempts : undefined;
  const tenancy = tenantSetting !== undefined;
  return encodeRequest(request, { maxAttempts, payloadLimitBytes, tenancy, tenantId: null });
}

/** handlerOf answers the handler of a definition, as it was discovered. Throws KitError where there is none. */
export function handlerOf({ registry }: TestedQueue, { kind }: AnyJobDefinition): HandlerEntry {
  const entry = registry.find(kind);
  if (entry) return entry;
  const { kinds } = registry;
  throw new KitError(
    kinds.length === 0
      ? `No handler has been found, ${kind}'s neither: await app.init() first, and list the handlers under providers.`
      : `${kind} has no handler here: list its class under providers. Those there are: ${kinds.join(', ')}.`,
  );
}

/** The parts that a queue without NestJS keeps to itself are its own all the same. */
function ofPlainQueue(queue: HoldfastQueue): TestedQueue {
  const options = queue['options'];
  return {
    connections: queue['connections'],
    database: options.database,
    interceptors: queue.interceptors,
    lookup: queue.lookup,
    options,
    registry: queue.registry,
    store: queue.store,
    tell: (event) => {
      queue.runner.events.report(event);
      report(options.reporter, event);
    },
  };
}

function report(reporter: Reporter | undefined, event: QueueEvent): void {
  try {
    reporter?.report(event);
  } catch {
    // A reporter must not be able to change what is tested.
  }
}

type Token<T> = abstract new (...args: never[]) => T;

function lookIn(app: NestContext) {
  const get = app.get.bind(app) as (token: unknown, options: { strict: boolean }) => unknown;
  const found = <T>(token: Token<T> | symbol): T | undefined => {
    try {
      return get(token, { strict: false }) as T;
    } catch {
      return undefined;
    }
  };
  return {
    found,
    get: <T>(token: Token<T> | symbol, missing: string): T => {
      const part = found<T>(token);
      if (part === undefined) throw new KitError(missing);
      return part;
    },
  };
}
