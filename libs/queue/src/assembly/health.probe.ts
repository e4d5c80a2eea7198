import { ControlConnections, Migrator } from '@holdfast/kernel';
import { queueMigrations } from '@holdfast/migrations';
import { checkWritable } from '../postgres/sql/check-writable.sql.js';
import type { ResolvedQueueOptions } from './queue.options.js';
import { connectionConfigOf } from './queue.parts.js';

/** A check waits for less, as a rule: what has not answered by then is not waited for any longer. */
const DEADLINE_MS = 2_000;

/**
 * HealthProbe asks the database for the indicators, on one connection of its own that the first check opens and that is kept: whatever the
 * application's pool and the control connections are busy with, it is answered (K143, R19).
 */
export class HealthProbe {
  private readonly control: ControlConnections;
  private readonly migrator: Migrator;

  constructor(private readonly options: ResolvedQueueOptions) {
    const { preparedStatements, schema } = options;
    const settings = { applicationName: 'holdfast-health', deadlineMs: DEADLINE_MS, max: 1, preparedStatements };
    this.control = new ControlConnections(() => connectionConfigOf(options), settings);
    this.migrator = new Migrator(this.control, { migrations: queueMigrations, schema: schema.name });
  }

  /** connections answers how many it holds at most, by what they carry (R19). */
  get connections(): Readonly<Record<string, number>> {
    return { 'health checks': this.control.max };
  }

  /** close ends its connection. Idempotent. */
  close(): Promise<void> {
    return this.control.close();
  }

  /** fitTables rejects with what Migrator throws when this version cannot run on the tables. */
  fitTables(): Promise<void> {
    return this.migrator.check();
  }

  /** writable rejects when the database cannot be written to, or has not answered within the time. */
  async writable(withinMs: number): Promise<void> {
    await this.control.run(checkWritable, this.options.schema, {}, { deadlineMs: withinMs });
  }
}
