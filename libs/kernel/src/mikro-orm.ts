import './instance/this-kernel.js';

export { fromMikroOrm, type MikroOrmManagerLike } from './executors/mikro-orm.executor.js';
export type { SqlExecutor, SqlResult } from './sql/sql-executor.js';
