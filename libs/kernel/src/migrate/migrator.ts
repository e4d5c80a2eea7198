import { SchemaName } from '../sql/schema-name.js';
import { MigrationsPendingError } from './errors/migrations-pending.error.js';
import type { MigrationConnection } from './migration.connection.js';
import { MigrationHistory } from './migration.history.js';
import { MigrationPlan, type DownOptions, type MigrationStatus } from './migration.plan.js';
import { migrationScript } from './migration.script.js';
import { MigrationSession, type MigrationTimes } from './migration.session.js';
import { MigrationStep } from './migration.step.js';
import { checkMigrations, isTransactional, type Migration } from './migration.js';

/** MigratorOptions say what is migrated, and where to. */
export interface MigratorOptions extends Partial<MigrationTimes> {
  /** logger is told of each migration that was applied or taken back, by its id. Default: nobody. */
  readonly logger?: { log(message: string): void };
  /** migrations in order; those of `@holdfast/migrations`. */
  readonly migrations: readonly Migration[];
  /** schema that holds the tables; any name. */
  readonly schema: string;
}

const DEFAULT_TIMES: MigrationTimes = { lockTimeoutMs: 3_000, statementTimeoutMs: 600_000, waitMs: 60_000 };

/**
 * Migrator brings one schema to the state that this version of the code needs (C2).
 *
 * Any number of instances may start at once: each migration is applied under an advisory lock that is taken before anything is created, by one
 * of them; the others wait for it, or find it done (K52, K125). Each migration is one transaction together with its row in the history, so a
 * crash leaves it applied or not. Migrations that the history knows and this version does not are left alone: the version before runs on
 * the schema after. It wants a connection without an open transaction; it opens its own.
 */
export class Migrator {
  private readonly history: MigrationHistory;
  private readonly schema: SchemaName;
  private readonly session: MigrationSession;
  private readonly step: MigrationStep;

  /** Throws InvalidSchemaNameError or InvalidMigrationsError. */
  constructor(
    private readonly connection: MigrationConnection,
    private readonly options: MigratorOptions,
  ) {
    checkMigrations(options.migrations);
    this.schema = new SchemaName(options.schema);
    this.history = new MigrationHistory(this.schema);
    this.step = new MigrationStep(this.schema, this.history);
    const { lockTimeoutMs, statementTimeoutMs, waitMs } = { ...DEFAULT_TIMES, ...options };
    this.session = new MigrationSession(connection, this.schema, { lockTimeoutMs, statementTimeoutMs, waitMs });
  }

  /**
   * check resolves when this version can run on the schema. It only reads, in whatever transaction is open.
   *
   * Throws MigrationsPendingError, EditedMigrationError, MigrationGapError, or SchemaAccessError.
   */
  async check(): Promise<void> {
    const pending = (await this.plan()).pending();
    if (pending.length > 0) {
      throw new MigrationsPendingError(
        this.schema.name,
        pending.map(({ id }) => id),
      );
    }
  }

  /** down takes migrations back, the latest first, and answers their ids. Default: one. Throws SchemaNewerError where a newer version has built on them. */
  async down(options: DownOptions = {}): Promise<string[]> {
    const targets = (await this.plan()).revertible(options);
    const reverted: string[] = [];
    if (targets.length > 0) await this.session.checkConnection();
    for (const target of targets) {
      const done = await this.exclusively(target, async () => {
        const latest = (await this.plan()).revertible({ steps: 'all' }).find(({ part }) => part === target.part);
        if (latest?.id !== target.id) return false;
        await this.step.revert(this.connection, target);
        return true;
      });
      if (!done) continue;
      reverted.push(target.id);
      this.options.logger?.log(`Migration ${target.id} taken back from the schema ${this.schema.quoted}.`);
    }
    return reverted;
  }

  /** sql answers what `up` or `down` would run now, as a script for psql that records the migrations as the migrator would. It only reads. */
  async sql(direction: 'up' | 'down' = 'up', options: DownOptions = {}): Promise<string> {
    const applied = await this.history.read(this.connection);
    const plan = new MigrationPlan(this.schema, this.options.migrations, applied);
    if (direction === 'down') {
      const targets = plan.revertible(options);
      const last = applied.length === targets.length ? targets.at(-1) : undefined;
      const steps = targets.map((migration) => ({
        migration,
        statements: [
          ...migration.down(this.schema),
          this.history.forget(migration),
          ...(migration === last ? [this.history.drop()] : []),
        ],
      }));
      return migrationScript(this.schema, steps);
    }
    const pending = plan.pending();
    const preparation = pending.length > 0 ? await this.step.preparation(this.connection) : [];
    const steps = pending.map((migration, index) => ({
      migration,
      statements: [...(index === 0 ? preparation : []), ...migration.up(this.schema), this.history.record(migration)],
    }));
    return migrationScript(this.schema, steps);
  }

  /** status answers every migration with its state. It only reads. */
  async status(): Promise<MigrationStatus[]> {
    return (await this.plan()).status();
  }

  /**
   * up applies what is pending and answers the ids that this call applied; nothing when another instance was first.
   *
   * Throws MigrationFailedError (that step rolled back), MigrationBusyError after `waitMs`, SchemaMissingError, MigrationConnectionError for a
   * pool or inside a transaction, EditedMigrationError, MigrationGapError. After any of them the lock is free.
   */
  async up(): Promise<string[]> {
    const applied: string[] = [];
    let next = (await this.plan()).pending()[0];
    if (next) await this.session.checkConnection();
    while (next) {
      const migration = next;
      const done = await this.exclusively(migration, async () => {
        if ((await this.plan()).pending()[0]?.id !== migration.id) return false;
        await this.step.apply(this.connection, migration);
        return true;
      });
      if (done) {
        applied.push(migration.id);
        this.options.logger?.log(`Migration ${migration.id} applied to the schema ${this.schema.quoted}.`);
      }
      next = (await this.plan()).pending()[0];
    }
    return applied;
  }

  private exclusively<T>(migration: Migration, work: () => Promise<T>): Promise<T> {
    return isTransactional(migration) ? this.session.transaction(work) : this.session.outsideTransaction(work);
  }

  private async plan(): Promise<MigrationPlan> {
    return new MigrationPlan(this.schema, this.options.migrations, await this.history.read(this.connection));
  }
}
