import { Backoff, type BackoffOptions, type Database, parseDuration, property, SchemaName } from '@holdfast/kernel';
import { isKind } from '../domain/kind.js';
import { DEFAULT_PAYLOAD_LIMIT_BYTES } from '../domain/request.js';
import { DEFAULT_RETENTION, problemOfRetention, retentionOf } from '../domain/retention.js';
import { InvalidQueueOptionsError } from '../errors/invalid-queue-options.error.js';
import { InvalidRunnerOptionsError } from '../errors/invalid-runner-options.error.js';
import { Reporter } from '../ports/reporter.js';
import { resolveRunnerOptions, type RunnerOptions } from '../runner/runner.options.js';
import { problemsOfEnsure } from './ensure.check.js';
import type { QueueOptions, ResolvedQueueOptions, RunOptions } from './queue.options.js';
import { scheduleOptionsOf } from './schedule.options.check.js';

const MAX_PAYLOAD_LIMIT_BYTES = 64 * 1024 * 1024;
const DEFAULT_SCHEMA = 'holdfast';
/** A setting of an application has a dot in its name: PostgreSQL takes no other from outside. */
const SETTING = /^[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)+$/;

type Check = (value: unknown) => string | undefined;

const CHECKS: Readonly<Record<keyof QueueOptions, Check>> = {
  autoStart: isBoolean,
  classifyError: (value) => (typeof value === 'function' ? undefined : 'must be a function'),
  database: problemOfDatabase,
  directUrl: (value) => (isPostgresUrl(value) ? undefined : 'must be a postgres:// URL'),
  ensure: (value) =>
    Array.isArray(value) ? undefined : 'must be a list of definition.request(payload, { dedupeKey })',
  errorDetail: (value) => oneOf(value, ['code', 'class', 'message']),
  kinds: problemOfKinds,
  migrations: (value) => oneOf(value, ['check', 'up', 'off']),
  notifications: (value) => oneOf(value, ['auto', 'off']),
  payloadLimitBytes: (value) =>
    Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_PAYLOAD_LIMIT_BYTES
      ? undefined
      : `must be a whole number of bytes from 1 to ${MAX_PAYLOAD_LIMIT_BYTES}`,
  preparedStatements: isBoolean,
  redactPayload: (value) => (typeof value === 'function' ? undefined : 'must be a function'),
  reporter: (value) =>
    typeof (value as Partial<Reporter> | null)?.report === 'function' ? undefined : 'must have a function report',
  retention: problemOfRetention,
  run: problemOfRun,
  // What is in it is checked with what the scheduler is given.
  schedule: () => undefined,
  schema: (value) => problemOf(() => new SchemaName(value as string)),
  tenancy: (value) =>
    value === 'off' || SETTING.test(String((value as { setting?: unknown } | null)?.setting))
      ? undefined
      : "must be 'off' or { setting } with the name of a setting such as app.tenant_id",
  transactionHost: (value) =>
    typeof property(value, 'current') === 'function'
      ? undefined
      : 'is none: wrap it, nestjsCls(txHost) or typeormTransactional(dataSource)',
};

/** resolveQueueOptions checks the options, fills in the defaults and freezes them. Throws InvalidQueueOptionsError with every problem at once, those `found` before included. */
export function resolveQueueOptions(given: QueueOptions, found: readonly string[] = []): ResolvedQueueOptions {
  if (typeof given !== 'object' || given === null) {
    throw new InvalidQueueOptionsError([...found, `there are none: the factory answered ${String(given)}`]);
  }
  const options = readOnce(given);
  const problems = [...found, ...problemsOf(options), ...problemsOfEnsure(options)];
  const run = runnerOptionsOf(options, problems);
  const { leadership, schedule } = scheduleOptionsOf(options, problems);
  if (problems.length > 0) throw new InvalidQueueOptionsError(problems);
  return Object.freeze({
    autoStart: options.autoStart ?? true,
    database: options.database,
    directUrl: options.directUrl,
    ensure: Object.freeze([...(options.ensure ?? [])]),
    kinds: Object.freeze({ ...options.kinds }),
    leadership,
    migrations: options.migrations ?? 'check',
    notifications: options.notifications ?? 'auto',
    payloadLimitBytes: options.payloadLimitBytes ?? DEFAULT_PAYLOAD_LIMIT_BYTES,
    preparedStatements: options.preparedStatements ?? true,
    redactPayload: options.redactPayload,
    reporter: options.reporter,
    retention: Object.freeze({ ...DEFAULT_RETENTION, ...retentionOf(options.retention ?? {}) }),
    run: Object.freeze(run),
    schedule: Object.freeze(schedule),
    schema: new SchemaName(options.schema ?? DEFAULT_SCHEMA),
    tenantSetting: typeof options.tenancy === 'object' ? options.tenancy.setting : undefined,
    transactionHost: options.transactionHost,
  });
}

function durationMs(name: 'grace' | 'poll', run: RunOptions, problems: string[]): number | undefined {
  const { [name]: written, [`${name}Ms` as const]: ms } = run;
  if (written === undefined) return ms;
  if (ms !== undefined) problems.push(`run.${name} and run.${name}Ms exclude each other`);
  try {
    return parseDuration(written);
  } catch (error) {
    problems.push(`run.${name}: ${messageOf(error)}`);
    return undefined;
  }
}

function isBoolean(value: unknown): string | undefined {
  return typeof value === 'boolean' ? undefined : 'must be true or false';
}

function isPostgresUrl(value: unknown): boolean {
  return typeof value === 'string' && URL.canParse(value) && /^postgres(ql)?:$/.test(new URL(value).protocol);
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}

function oneOf(value: unknown, allowed: readonly unknown[]): string | undefined {
  return allowed.includes(value) ? undefined : `must be one of ${allowed.join(', ')}`;
}

function problemOf(attempt: () => unknown): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return `is refused: ${messageOf(error)}`;
  }
}

/** What it is mostly given bare is named, and how it is wrapped. */
function problemOfDatabase(value: unknown): string | undefined {
  const given = value as (Partial<Database> & { connect?: unknown; createQueryRunner?: unknown }) | null | undefined;
  if (typeof given?.begin === 'function' && typeof given.connectionConfig === 'function') return undefined;
  if (typeof given?.createQueryRunner === 'function') return 'is a bare DataSource: wrap it, typeOrm(dataSource)';
  if (typeof given?.connect === 'function') return 'is bare: wrap the pool, pgPool(pool)';
  return given === undefined || given === null
    ? 'is missing: give typeOrm(dataSource) or pgPool(pool)'
    : 'is none: give typeOrm(dataSource) or pgPool(pool)';
}

function problemOfKinds(kinds: unknown): string | undefined {
  if (typeof kinds !== 'object' || kinds === null) return 'must be an object of overrides by kind';
  const problems: string[] = [];
  for (const [kind, overrides] of Object.entries(kinds)) {
    if (!isKind(kind)) problems.push(`${JSON.stringify(kind)} is no kind`);
    const backoff = (overrides as { backoff?: BackoffOptions } | null)?.backoff;
    const problem = backoff === undefined ? undefined : problemOf(() => new Backoff(backoff));
    if (problem) problems.push(`${kind}.backoff ${problem}`);
  }
  return problems.length > 0 ? `has mistakes: ${problems.join(', ')}` : undefined;
}

/** Options of the queue itself: the runner takes them too, but in `run` they would hold for the runner alone. */
const BESIDE_RUN = ['classifyError', 'errorDetail', 'kinds', 'tenancy'];
/** A problem begins with the name of its option. */
const IS_BESIDE_RUN = new RegExp(`^(${BESIDE_RUN.join('|')})\\b`);

function problemOfRun(run: unknown): string | undefined {
  if (typeof run !== 'object' || run === null) return 'must be an object';
  const misplaced = BESIDE_RUN.filter((name) => Object.hasOwn(run, name));
  return misplaced.length > 0 ? `holds ${misplaced.join(', ')}: to be said beside run, not in it` : undefined;
}

function problemsOf(options: QueueOptions): string[] {
  const problems: string[] = [];
  const given = { ...options, database: options.database as unknown };
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(CHECKS, name))
      problems.push(name === 'roles' ? 'roles are said beside useFactory, not by it' : `${name} is no option`);
    else if (value !== undefined || name === 'database') {
      const problem = CHECKS[name as keyof typeof CHECKS](value);
      if (problem) problems.push(`${name} ${problem}`);
    }
  }
  return problems;
}

/** readOnce answers what was given, also by getters of a class: what is checked is what is used. */
export function readOnce(given: QueueOptions): QueueOptions {
  const own = { ...given };
  const inherited = Object.keys(CHECKS).filter((name) => name in given && !(name in own)) as (keyof QueueOptions)[];
  return { ...own, ...Object.fromEntries(inherited.map((name) => [name, given[name]])) };
}

/** runnerOptionsOf answers what the runner is given, and adds what the runner would refuse to the problems. */
function runnerOptionsOf(options: QueueOptions, problems: string[]): RunnerOptions {
  const { grace: _grace, poll: _poll, ...rest } = options.run ?? {};
  const run: RunnerOptions = {
    ...rest,
    ...without({
      graceMs: durationMs('grace', options.run ?? {}, problems),
      pollMs: durationMs('poll', options.run ?? {}, problems),
    }),
    ...without({
      classifyError: options.classifyError,
      errorDetail: options.errorDetail,
      kinds: options.kinds,
      tenancy: options.tenancy,
    }),
  };
  try {
    resolveRunnerOptions(run, 'check');
  } catch (error) {
    if (error instanceof InvalidRunnerOptionsError)
      problems.push(...error.problems.map((problem) => (IS_BESIDE_RUN.test(problem) ? problem : `run: ${problem}`)));
    else if (problems.length === 0) throw error;
  }
  return run;
}

/** without leaves out what is undefined, so that a default below it stands. */
function without<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
