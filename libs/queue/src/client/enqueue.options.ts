import type { TransactionHandle } from '@holdfast/kernel';
import type { RequestOptions } from '../domain/request.js';

/** JoinOptions say which transaction an enqueue joins (Q1). */
export interface JoinOptions {
  /**
   * in names the transaction: an EntityManager or QueryRunner with an open transaction, a `pg` client after BEGIN, a Transaction, any
   * SqlExecutor; or `'own'` for one of its own, which commits whatever becomes of the caller's. Default the open unit of work or handler.
   */
  readonly in?: TransactionHandle | 'own';
}

/** EnqueueOptions say when and how a job runs, and which transaction its request joins. */
export interface EnqueueOptions extends RequestOptions, JoinOptions {}
