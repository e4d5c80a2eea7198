import type { Database, SchemaName, TransactionHost } from '@holdfast/kernel';
import type { ErrorDetail } from '../domain/failure.js';
import type { RedactPayload } from '../domain/job.listing.js';
import type { JobRequest } from '../domain/request.js';
import type { Retention, RetentionOptions } from '../domain/retention.js';
import type { ClassifyError } from '../domain/retry.policy.js';
import type { Reporter } from '../ports/reporter.js';
import type { KindOverrides, RunnerOptions } from '../runner/runner.options.js';
import type { SchedulerOptions } from '../scheduler/scheduler.options.js';

/** RunOptions say what this process runs and how; RunnerOptions tells each. `grace` and `poll` are `graceMs` and `pollMs` with a unit. */
export interface RunOptions extends Omit<RunnerOptions, 'classifyError' | 'errorDetail' | 'kinds' | 'tenancy'> {
  /** grace is how long a shutdown lets running jobs go on (R17). Default `'20s'`. */
  readonly grace?: string;
  /** poll is the longest time between two looks for work, jitter included (R18). Default `'2s'`. */
  readonly poll?: string;
}

/** LeadershipMode says how it is decided who leads: `'always'` is this process, for one that is alone; `'never'` is not. */
export type LeadershipMode = 'advisory-lock' | 'always' | 'never';

/** ScheduleOptions say how often leadership is proved and what the leader does; SchedulerOptions tells each. `tick` is `tickMs` with a unit. */
export interface ScheduleOptions extends Omit<SchedulerOptions, 'owner'> {
  /** leadership: an advisory lock on a connection of its own, straight to the server (L1, L4). Default `'advisory-lock'`. */
  readonly leadership?: LeadershipMode;
  /** tick is how often leadership is proved and duties are looked for (S1). Default `'10s'`. */
  readonly tick?: string;
}

/** MigrationMode says what is done about the tables at the start: look whether they fit, bring them up, or nothing. */
export type MigrationMode = 'check' | 'up' | 'off';

/** NotificationMode says whether a runner listens for commits besides polling. */
export type NotificationMode = 'auto' | 'off';

/** TenancyOptions name the setting that carries a transaction's tenant, such as `app.tenant_id` (T1). */
export interface TenancyOptions {
  readonly setting: string;
}

/** QueueOptions are everything that can be said about a queue; only the database must be. */
export interface QueueOptions {
  /** autoStart starts the runner and the scheduler once a NestJS application is up. Default true; else call `runner.start()` and `scheduler.start()`. */
  readonly autoStart?: boolean;
  /** classifyError sorts errors that carry no class and that their definition's hook leaves open (R10). Default none. */
  readonly classifyError?: ClassifyError;
  /** database is the application's own: `typeOrm(dataSource)` or `pgPool(pool)`. Required. */
  readonly database: Database;
  /**
   * directUrl is where the queue's own connections go (`postgres://…`), around a pooler in transaction mode. TLS, user and
   * password are the database's where the URL names none. Default: where the database's connections go.
   */
  readonly directUrl?: string;
  /**
   * ensure names jobs that must exist, each `definition.request(payload, { dedupeKey })`: seeded at the start by any number of replicas at once, kept
   * single by their key. A live job of a key stays as it is, its moment and payload included; a dead one gets a successor. Default none.
   */
  readonly ensure?: readonly JobRequest[];
  /** errorDetail is how much of an error a row keeps: `'code'`, `'class'` or `'message'` (R8). Default `'class'`. */
  readonly errorDetail?: ErrorDetail;
  /** kinds changes definitions for this deployment: concurrency, timeout, backoff, maxAttempts. Default none. */
  readonly kinds?: Readonly<Record<string, KindOverrides>>;
  /** migrations: `'check'` refuses to start on tables that do not fit, `'up'` makes them fit, `'off'` does neither. Default `'check'`. */
  readonly migrations?: MigrationMode;
  /** notifications: `'auto'` hears of commits by LISTEN and polls where that does not work, `'off'` polls alone (Q10). Default `'auto'`. */
  readonly notifications?: NotificationMode;
  /** payloadLimitBytes is the largest payload, as JSON in bytes, 1 to 64 MiB (Q2). Default 262 144. */
  readonly payloadLimitBytes?: number;
  /** preparedStatements lets the queue's own connections keep statements prepared. Default true; false behind a pooler that loses them. */
  readonly preparedStatements?: boolean;
  /**
   * redactPayload says what `Jobs.payload` shows of a payload: `(job, payload) => …`. Default none: it shows none (A1).
   */
  readonly redactPayload?: RedactPayload;
  /** reporter is told what the runner does. Default: the log. */
  readonly reporter?: Reporter;
  /**
   * retention is how long jobs are kept after their end, by how they ended, where their definition says nothing: `{ succeeded: '1h', deadLetter: 'forever' }`;
   * at least a minute. The leader removes them, so processes with the role schedule should agree (S5). Default `'1d'` for those that succeeded, `'14d'` for the others.
   */
  readonly retention?: RetentionOptions;
  /** run says what this process runs and how. Default: every kind that has a handler, 10 at once. */
  readonly run?: RunOptions;
  /** schedule says how leadership is decided and how often the leader acts (L2, S1). Default: an advisory lock, every 10 s. */
  readonly schedule?: ScheduleOptions;
  /** schema holds the queue's tables. Default `holdfast`. */
  readonly schema?: string;
  /** tenancy: jobs and units of work may name a tenant, whose scope their transactions run under (T1). Default `'off'`. */
  readonly tenancy?: TenancyOptions | 'off';
  /**
   * transactionHost finds the open transaction of another tool of the application, which an enqueue without `in` joins (T4): `nestjsCls(txHost)`,
   * `typeormTransactional(dataSource)`. Default none.
   */
  readonly transactionHost?: TransactionHost;
}

/** ResolvedQueueOptions are the options with their defaults, checked and frozen; nobody else reads the raw ones. */
export interface ResolvedQueueOptions {
  readonly autoStart: boolean;
  readonly database: Database;
  readonly directUrl: string | undefined;
  readonly ensure: readonly JobRequest[];
  readonly kinds: Readonly<Record<string, KindOverrides>>;
  readonly leadership: LeadershipMode;
  readonly migrations: MigrationMode;
  readonly notifications: NotificationMode;
  readonly payloadLimitBytes: number;
  readonly preparedStatements: boolean;
  readonly redactPayload: RedactPayload | undefined;
  readonly reporter: Reporter | undefined;
  readonly retention: Retention;
  readonly run: RunnerOptions;
  readonly schedule: SchedulerOptions;
  readonly schema: SchemaName;
  /** tenantSetting is undefined while tenancy is off. */
  readonly tenantSetting: string | undefined;
  readonly transactionHost: TransactionHost | undefined;
}
