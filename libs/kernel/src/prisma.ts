import './instance/this-kernel.js';

export { fromPrisma, type PrismaTransactionLike } from './executors/prisma.executor.js';
export type { SqlExecutor, SqlResult } from './sql/sql-executor.js';
