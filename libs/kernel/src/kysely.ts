import './instance/this-kernel.js';

export { fromKysely, type KyselyResultLike, type KyselyTransactionLike } from './executors/kysely.executor.js';
export type { SqlExecutor, SqlResult } from './sql/sql-executor.js';
