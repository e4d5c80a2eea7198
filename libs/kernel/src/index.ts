export { isErrorCode } from './errors/error-code.js';
export { errorChain } from './errors/error-chain.js';
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
export { InvalidDurationError } from './errors/invalid-duration.error.js';
export { InvalidSchemaNameError } from './errors/invalid-schema-name.error.js';
export { NestedScopeError } from './errors/nested-scope.error.js';
export { NoOpenTransactionError } from './errors/no-open-transaction.error.js';
export { PoolExhaustedError } from './errors/pool-exhausted.error.js';
export { StatementDeadlineError } from './errors/statement-deadline.error.js';
export { TransactionAbortedError } from './errors/transaction-aborted.error.js';
export { TransactionEndedError } from './errors/transaction-ended.error.js';
export { TransactionSettledError } from './errors/transaction-settled.error.js';
export { isConnectionLost, isSerializationFailure, sqlStateOf } from './errors/sql-state.js';

export { inlineStatement } from './sql/inline-statement.js';
export { SchemaName } from './sql/schema-name.js';
export type { SqlExecutor, SqlResult } from './sql/sql-executor.js';
export { Statement, type BoundStatement, type StatementSource } from './sql/statement.js';

export { pause, startTimer, withDeadline, type Timer } from './time/deadline.js';
export { parseDuration, type Duration } from './time/duration.js';

export { Backoff, type BackoffByDelays, type BackoffByGrowth, type BackoffOptions } from './retry/backoff.js';
export { outageDelayMs } from './retry/outage-delay.js';

export { ambientTransaction, runInTransaction } from './transaction/ambient-transaction.js';
export { Database, type BeginOptions, type OpenTransaction } from './transaction/database.js';
export type { IsolationLevel, Transaction } from './transaction/transaction.js';
export { UnitOfWork, type UnitOfWorkOptions } from './transaction/unit-of-work.js';

// The migration runner: export * from './migrate/…' goes here.
