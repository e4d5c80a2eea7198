import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import type { Transaction } from './transaction.js';

/** The context in which this file was loaded: no transaction was open then, of any database. */
const outside = new AsyncResource('holdfast');
const storages = new WeakMap<object, AsyncLocalStorage<Transaction>>();

function storageOf(identity: object): AsyncLocalStorage<Transaction> {
  let storage = storages.get(identity);
  if (!storage) storages.set(identity, (storage = new AsyncLocalStorage()));
  return storage;
}

/** ambientTransaction answers the transaction that the calling code runs in for this database, or undefined. */
export function ambientTransaction(identity: object): Transaction | undefined {
  return storageOf(identity).getStore();
}

/** runInTransaction calls `fn` with `transaction` as the ambient one for this database. */
export function runInTransaction<T>(identity: object, transaction: Transaction, fn: () => T): T {
  return storageOf(identity).run(transaction, fn);
}

/**
 * outsideTransactions calls `fn`, and all that it starts, with no transaction as the ambient one, whoever calls: what outlives the caller must not join a
 * transaction that has long ended. No other context of the caller's reaches it either.
 */
export function outsideTransactions<T>(fn: () => T): T {
  return outside.runInAsyncScope(fn);
}
