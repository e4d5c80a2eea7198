import type { TransactionHandle } from './executor-of.js';

/**
 * TransactionHost is the port to a tool of the application that keeps an open transaction of its own in the asynchronous context: an enqueue without
 * `in` joins it (T4). Its transactions must be of the database that holds the queue's tables.
 */
export interface TransactionHost {
  /** current answers the transaction that the calling code runs in, or undefined where none is open; it is asked at every enqueue without `in`. */
  current(): TransactionHandle | undefined;
}
