import type { SchemaName } from '../sql/schema-name.js';
import { EditedMigrationError } from './errors/edited-migration.error.js';
import { InvalidMigrationsError } from './errors/invalid-migrations.error.js';
import { MigrationGapError } from './errors/migration-gap.error.js';
import { SchemaNewerError } from './errors/schema-newer.error.js';
import type { AppliedMigration } from './migration.history.js';
import { migrationChecksum, type Migration } from './migration.js';

/** MigrationState: `edited` was applied with other statements; `unknown` was applied by a newer version, or by one with more parts. */
export type MigrationState = 'applied' | 'edited' | 'pending' | 'unknown';

/** MigrationStatus is one line of `status()`. */
export interface MigrationStatus {
  /** appliedAt is an ISO 8601 moment (UTC), or null while pending. */
  readonly appliedAt: string | null;
  readonly appliedBy: string | null;
  readonly id: string;
  readonly part: string;
  readonly state: MigrationState;
}

/** DownOptions say how far down; the default is one step. */
export interface DownOptions {
  /** steps is how many of the latest migrations are taken back, or `'all'`: then nothing of ours is left in the schema. */
  readonly steps?: number | 'all';
  /** to is the id of the migration that stays the last of its part; other parts are left alone. */
  readonly to?: string;
}

/** MigrationPlan compares the migrations of this version with the history of a schema. It decides from values alone. */
export class MigrationPlan {
  private readonly appliedByKey: ReadonlyMap<string, AppliedMigration>;

  constructor(
    private readonly schema: SchemaName,
    private readonly migrations: readonly Migration[],
    private readonly applied: readonly AppliedMigration[],
  ) {
    this.appliedByKey = new Map(applied.map((row) => [key(row), row]));
  }

  /** pending answers what is to be applied, in order. Throws EditedMigrationError or MigrationGapError when the history does not fit. */
  pending(): Migration[] {
    this.checkEdits(this.migrations);
    const pending = this.migrations.filter((migration) => !this.appliedByKey.has(key(migration)));
    for (const { id, part } of pending) {
      const later = this.applied.find((row) => row.part === part && row.id > id);
      if (later) throw new MigrationGapError(this.schema.name, id, later.id);
    }
    return pending;
  }

  /**
   * revertible answers what is to be taken back, the latest first. Throws SchemaNewerError when a newer version has built on it,
   * EditedMigrationError when what was applied is not what this version knows, InvalidMigrationsError for an unknown `to`.
   */
  revertible({ steps = 1, to }: DownOptions = {}): Migration[] {
    const known = this.migrations.filter((migration) => this.appliedByKey.has(key(migration))).reverse();
    const targets = to === undefined ? known.slice(0, steps === 'all' ? known.length : steps) : this.after(known, to);
    const unknown = this.unknown().filter((row) => targets.some(({ id, part }) => part === row.part && row.id > id));
    if (unknown.length > 0)
      throw new SchemaNewerError(
        this.schema.name,
        unknown.map(({ id }) => id),
      );
    this.checkEdits(targets);
    return targets;
  }

  /** status answers every migration that is known or applied; those that are only applied come last. */
  status(): MigrationStatus[] {
    const known = this.migrations.map((migration): MigrationStatus => {
      const row = this.appliedByKey.get(key(migration));
      const state = !row ? 'pending' : row.checksum === migrationChecksum(migration) ? 'applied' : 'edited';
      return status(migration, state, row);
    });
    return [...known, ...this.unknown().map((row) => status(row, 'unknown', row))];
  }

  private after(known: readonly Migration[], to: string): Migration[] {
    const last = this.migrations.find(({ id }) => id === to);
    if (!last) throw new InvalidMigrationsError(to, 'this version has no migration of that id');
    return known.filter(({ id, part }) => part === last.part && id > to);
  }

  private checkEdits(migrations: readonly Migration[]): void {
    for (const migration of migrations) {
      const row = this.appliedByKey.get(key(migration));
      if (row && row.checksum !== migrationChecksum(migration)) {
        throw new EditedMigrationError(this.schema.name, migration.id);
      }
    }
  }

  private unknown(): AppliedMigration[] {
    const known = new Set(this.migrations.map(key));
    return this.applied.filter((row) => !known.has(key(row)));
  }
}

function key({ id, part }: { id: string; part: string }): string {
  return `${part}/${id}`;
}

function status(of: { id: string; part: string }, state: MigrationState, row?: AppliedMigration): MigrationStatus {
  return { appliedAt: row?.appliedAt ?? null, appliedBy: row?.appliedBy ?? null, id: of.id, part: of.part, state };
}
