import { property } from '../errors/error-chain.js';
import { NoOpenTransactionError } from '../errors/no-open-transaction.error.js';
import type { SqlExecutor } from '../sql/sql-executor.js';
import { isKnexTransaction, KnexExecutor } from './knex.executor.js';
import { isKyselyTransaction, KyselyExecutor } from './kysely.executor.js';

/** MikroOrmManagerLike is the part of MikroORM's EntityManager that leads to its transaction. */
export interface MikroOrmManagerLike {
  getTransactionContext(): unknown;
  isInTransaction(): boolean;
}

const HANDLE = 'An EntityManager of MikroORM';
const REMEDY = 'Hand over the em that em.transactional() gives, or one after begin(), before its commit or rollback.';

/**
 * fromMikroOrm makes an executor of the transaction that is open in an EntityManager of MikroORM: `jobs.enqueue(…, { in: fromMikroOrm(em) })` (Q1).
 *
 * Statements go through its transaction, of Knex up to MikroORM 6 and of Kysely from 7 on, because its own `execute` writes values into the text.
 * A nested `transactional` is a savepoint, which the job follows. The unit of work is not flushed: entities and job commit together all the same. Throws
 * NoOpenTransactionError for an EntityManager without an open transaction; one that ends later makes its queries reject in the same way.
 */
export function fromMikroOrm(manager: MikroOrmManagerLike): SqlExecutor {
  const known = typeof property(manager, 'getTransactionContext') === 'function';
  const context = known ? manager.getTransactionContext() : undefined;
  if (isKnexTransaction(context)) return new KnexExecutor(context, HANDLE, REMEDY);
  if (isKyselyTransaction(context)) return new KyselyExecutor(context, HANDLE, REMEDY);
  throw new NoOpenTransactionError(HANDLE, REMEDY);
}
