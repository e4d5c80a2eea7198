import type { TransactionHandle } from '../transaction/executor-of.js';
import type { TransactionHost } from '../transaction/transaction-host.js';

/** ClsTransactionHostLike is the part of the TransactionHost of `@nestjs-cls/transactional` that tells of its transaction. */
export interface ClsTransactionHostLike<Tx> {
  readonly tx: Tx;
  isTransactionActive(): boolean;
}

/**
 * nestjsCls lets enqueues join the transactions of `@nestjs-cls/transactional`: `transactionHost: nestjsCls(txHost)`, where `txHost` is the injected
 * TransactionHost (T4).
 *
 * With its adapter for TypeORM that is all; with one for another tool say how an executor is made: `nestjsCls(txHost, fromKnex)`.
 */
export function nestjsCls<Tx extends TransactionHandle>(host: ClsTransactionHostLike<Tx>): TransactionHost;
export function nestjsCls<Tx>(
  host: ClsTransactionHostLike<Tx>,
  handleOf: (tx: Tx) => TransactionHandle,
): TransactionHost;
export function nestjsCls(
  host: ClsTransactionHostLike<unknown>,
  handleOf = (tx: unknown) => tx as TransactionHandle,
): TransactionHost {
  // Where none is active its `tx` is the tool itself, which commits each statement.
  return { current: () => (host.isTransactionActive() ? handleOf(host.tx) : undefined) };
}
