export { holdfastMigrations, type HoldfastMigrationsOptions } from './holdfast-migrations.js';
export { migrationsFor } from './migrations-for.js';
export {
  enqueueGrantsFor,
  grantsFor,
  operatorGrantsFor,
  type OperatorRights,
  sqlEnqueueGrantsFor,
} from './privileges.js';
export { queueMigrations } from './queue/queue.migrations.js';
export type { TypeOrmMigration, TypeOrmMigrationClass, TypeOrmQueryRunner } from './typeorm-migration.js';
