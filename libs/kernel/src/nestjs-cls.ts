import './instance/this-kernel.js';

export { nestjsCls, type ClsTransactionHostLike } from './hosts/nestjs-cls.host.js';
export type { TransactionHost } from './transaction/transaction-host.js';
export type { TransactionHandle } from './transaction/executor-of.js';
