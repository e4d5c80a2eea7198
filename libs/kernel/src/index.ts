import './instance/this-kernel.js';

export { isErrorCode } from './errors/error-code.js';
export { errorChain, property } from './errors/error-chain.js';
export { DeafListenerError } from './errors/deaf-listener.error.js';
export { HoldfastError } from './errors/holdfast.error.js';
export {
  failureClassOf,
  PermanentError,
  RetryableError,
  UnavailableError,
  type ClassifiedErrorOptions,
  type FailureClass,
} from './errors/classified.errors.js';
export { CommitUnknownError } from './errors/commit-unknown.error.js';
export { ConnectionLostError } from './errors/connection-lost.error.js';
export { DataSourceNotInitializedError } from './errors/data-source-not-initialized.error.js';
export { InvalidDatabaseError } from './errors/invalid-database.error.js';
export { InvalidDurationError } from './errors/invalid-duration.error.js';
export { InvalidSchemaNameError } from './errors/invalid-schema-name.error.js';
export { InvalidTransactionOptionError } from './errors/invalid-transaction-option.error.js';
export { NestedScopeError } from './errors/nested-scope.error.js';
export { NoOpenTransactionError } from './errors/no-open-transaction.error.js';
export { PoolExhaustedError } from './errors/pool-exhausted.error.js';
export { SecondKernelError, type KernelCopy } from './errors/second-kernel.error.js';
export { StatementDeadlineError } from './errors/statement-deadline.error.js';
export { TenantRefusedError } from './errors/tenant-refused.error.js';
export { TransactionAbortedError } from './errors/transaction-aborted.error.js';
export { TransactionEndedError } from './errors/transaction-ended.error.js';
export { TransactionSettledError } from './errors/transaction-settled.error.js';
export { isConnectionLost, isSerializationFailure, sqlStateOf } from './errors/sql-state.js';

export {
  executorOf,
  type EntityManagerLike,
  type QueryRunnerLike,
  type TransactionHandle,
} from './transaction/executor-of.js';
export { inlineStatement } from './sql/inline-statement.js';
export { PgExecutor, type PgExecutorOptions } from './sql/pg.executor.js';
export { SchemaName } from './sql/schema-name.js';
export type { SqlExecutor, SqlResult } from './sql/sql-executor.js';
export { Statement, type BoundStatement, type StatementSource } from './sql/statement.js';
export {
  ControlConnections,
  type ControlConnectionsOptions,
  type DeadlineOption,
} from './connection/control.connections.js';
export {
  DedicatedConnection,
  type DedicatedConnectionOptions,
  type NewSession,
  type SentStatement,
} from './connection/dedicated.connection.js';
export { directConfigOf } from './connection/direct-config.js';
export { trySession, type TriedSession } from './connection/session.trial.js';
export { channelOf } from './notify/channel.js';
export { Doors } from './notify/doors.js';
export type { ListenerState, ListenerSubscriber, ListenerTimings } from './notify/listener.ports.js';
export { listenAt, type Subscription } from './notify/shared.listeners.js';
export { StartStop, type Startable } from './service/start-stop.js';

export type { PgClientLike, PgQuery, PgResult, PgStatus } from './sql/pg.types.js';

export { pause, startTimer, withDeadline, type Timer } from './time/deadline.js';
export { parseDuration, type Duration } from './time/duration.js';

export { Backoff, type BackoffByDelays, type BackoffByGrowth, type BackoffOptions } from './retry/backoff.js';
export { outageDelayMs } from './retry/outage-delay.js';

export { ambientTransaction, outsideTransactions, runInTransaction } from './transaction/ambient-transaction.js';
export { Database, type BeginOptions, type OpenTransaction } from './transaction/database.js';
export type { PartScope } from './transaction/transaction.part.js';
export { PgDatabase, pgPool } from './transaction/pg.database.js';
export type { IsolationLevel, Transaction } from './transaction/transaction.js';
export type { TransactionHost } from './transaction/transaction-host.js';
export { UnitOfWork, type UnitOfWorkOptions, type UnitOfWorkSettings } from './transaction/unit-of-work.js';

export { EditedMigrationError } from './migrate/errors/edited-migration.error.js';
export { InvalidMigrationsError } from './migrate/errors/invalid-migrations.error.js';
export { MigrationBusyError } from './migrate/errors/migration-busy.error.js';
export { MigrationConnectionError } from './migrate/errors/migration-connection.error.js';
export { MigrationFailedError } from './migrate/errors/migration-failed.error.js';
export { MigrationGapError } from './migrate/errors/migration-gap.error.js';
export { MigrationsPendingError } from './migrate/errors/migrations-pending.error.js';
export { SchemaAccessError } from './migrate/errors/schema-access.error.js';
export { SchemaMissingError } from './migrate/errors/schema-missing.error.js';
export { SchemaNewerError } from './migrate/errors/schema-newer.error.js';
export { migrationChecksum, type Migration, type MigrationPart } from './migrate/migration.js';
export type { MigrationConnection } from './migrate/migration.connection.js';
export type { DownOptions, MigrationState, MigrationStatus } from './migrate/migration.plan.js';
export { Migrator, type MigratorOptions } from './migrate/migrator.js';
export { applyInOpenTransaction, revertInOpenTransaction } from './migrate/open-transaction.migrations.js';
