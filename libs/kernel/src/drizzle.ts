import './instance/this-kernel.js';

export { fromDrizzle, type DrizzleTransactionLike } from './executors/drizzle.executor.js';
export type { SqlExecutor, SqlResult } from './sql/sql-executor.js';
