import fc from 'fast-check';
import type { Client } from 'pg';
import { ControlConnections } from '@holdfast/kernel';
import type { TestDatabase } from '@holdfast/testing';
import { PostgresJobStore } from '../../src/postgres/postgres.job-store.js';
import { PostgresJobs } from '../../src/postgres/postgres.jobs.js';
import { SCHEMA } from '../store.harness.js';
import { anyInterleaving, type Command } from './dedupe.commands.js';
import { DedupeTable } from './dedupe.table.js';
import { DedupeWorld } from './dedupe.world.js';

const CALLERS = 3;
/** A store that waits for anybody's lock is a fault: it fails soon. */
const CONTROL_DEADLINE_MS = 3_000;

/** DedupeProperty is the property of keys on one database: Q4, Q5 and Q6 hold in every interleaving. */
export class DedupeProperty {
  private constructor(
    private readonly clients: readonly Client[],
    private readonly control: ControlConnections,
    private readonly database: TestDatabase,
    private readonly store: PostgresJobStore,
  ) {}

  /** open connects; `Store` is what enqueues. */
  static async open(database: TestDatabase, Store = PostgresJobStore): Promise<DedupeProperty> {
    const connect = (max: number) =>
      new ControlConnections(
        { connectionString: database.url },
        { applicationName: 'property', deadlineMs: CONTROL_DEADLINE_MS, max },
      );
    const clients = await Promise.all(
      Array.from({ length: CALLERS }, async () => {
        const client = await database.client();
        // A writer that waits for another one is the very fault this looks for: it fails at once instead of after a while (Q7).
        await client.query(`SET lock_timeout = '250ms'; SET statement_timeout = '10s'`);
        return client;
      }),
    );
    const store = new Store({ connections: connect(4), keeper: connect(1), schema: SCHEMA });
    return new DedupeProperty(clients, connect(1), database, store);
  }

  async close(): Promise<void> {
    await this.store.close();
    await this.control.close();
  }

  /** of answers the property for definitions of this kind. */
  of(whenRunning: 'merge' | 'rerun'): fc.IAsyncProperty<[Command[]]> {
    const observer = this.database.pool({ max: 2 });
    const jobs = new PostgresJobs(this.control, SCHEMA);
    return fc.asyncProperty(anyInterleaving, async (commands) => {
      const table = (kind: string) => new DedupeTable(observer, SCHEMA.quoted, kind);
      const world = new DedupeWorld({ clients: this.clients, jobs, store: this.store, table, whenRunning });
      try {
        for (const command of commands) await world.play(command);
        await world.quiesce();
      } finally {
        for (const client of this.clients) await client.query('ROLLBACK');
      }
    });
  }
}
