export { migrationsFor } from './migrations-for.js';
export { queueMigrations } from './queue/queue.migrations.js';
