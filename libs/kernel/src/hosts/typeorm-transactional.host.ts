import type { EntityManagerLike } from '../transaction/executor-of.js';
import type { TransactionHost } from '../transaction/transaction-host.js';

/** ManagedDataSource is the part of a DataSource that leads to the manager of the calling code. */
export interface ManagedDataSource {
  readonly manager: EntityManagerLike;
}

/**
 * typeormTransactional lets enqueues join the transactions of `typeorm-transactional`: `transactionHost: typeormTransactional(dataSource)`, with the
 * DataSource that was given to `addTransactionalDataSource` (T4).
 *
 * Inside a transaction that library answers `dataSource.manager` with the manager of it; one added with `patch: false` it leaves alone, and no
 * transaction of it can be seen.
 */
export function typeormTransactional(dataSource: ManagedDataSource): TransactionHost {
  return {
    current: () => {
      const { manager } = dataSource;
      return manager.queryRunner?.isTransactionActive ? manager : undefined;
    },
  };
}
