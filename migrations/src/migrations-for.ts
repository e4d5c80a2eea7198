import type { Migration, MigrationPart } from '@holdfast/kernel';
import { queueMigrations } from './queue/queue.migrations.js';

/** migrationsFor answers the migrations of some parts, in the order in which they are applied. Default: all parts. */
export function migrationsFor(parts: readonly MigrationPart[] = ['queue', 'outbox']): Migration[] {
  return parts.includes('queue') ? [...queueMigrations] : [];
}
