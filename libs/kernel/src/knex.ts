import './instance/this-kernel.js';

export { fromKnex, type KnexTransactionLike } from './executors/knex.executor.js';
export type { SqlExecutor, SqlResult } from './sql/sql-executor.js';
