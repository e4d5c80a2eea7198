import './instance/this-kernel.js';

export { typeormTransactional, type ManagedDataSource } from './hosts/typeorm-transactional.host.js';
export type { TransactionHost } from './transaction/transaction-host.js';
export type { EntityManagerLike } from './transaction/executor-of.js';
