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
  private readonly connections: ControlConnections;
  private readonly migrator: Migrator;

  constructor(private readonly options: ResolvedQueueOptions) {
    const { preparedStatements, schema } = options;
    const settings = { applicationName: 'holdfast-health', deadlineMs: DEADLINE_MS, max: 1, preparedStatements };
    this.connections = new ControlConnections(() => connectionConfigOf(options), settings);
    this.migrator = new Migrator(this.connections, { migrations: queueMigrations, schema: schema.name });
  }

  /** close ends its connection. Idempotent. */
  close(): Promise<void> {
    return this.connections.close();
  }

  /** fitTables rejects with what Migrator throws when this version cannot run on the tables. */
  fitTables(): Promise<void> {
    return this.migrator.check();
  }

  /** writable rejects when the database cannot be written to, or has not answered within the time. */
  async writable(withinMs: number): Promise<void> {
    await this.connections.run(checkWritable, this.options.schema, {}, { deadlineMs: withinMs });
  }
}
