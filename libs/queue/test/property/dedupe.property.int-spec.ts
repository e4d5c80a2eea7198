import fc from 'fast-check';
import { Client, type Pool } from 'pg';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import type { JobStore } from '../../src/ports/job-store.js';
import { postgresStore, SCHEMA } from '../store.harness.js';
import { anyCommand } from './dedupe.commands.js';
import { DedupeWorld } from './dedupe.world.js';

const CALLERS = 3;

describe('a key under random interleavings on real connections', () => {
  let database: TestDatabase;
  let observer: Pool;
  let clients: Client[];
  let store: JobStore;

  beforeAll(async () => {
    database = await createTestDatabase();
    observer = database.pool({ max: 2 });
    store = postgresStore(database);
    clients = await Promise.all(
      Array.from({ length: CALLERS }, async () => {
        const client = new Client({ connectionString: database.url });
        await client.connect();
        // A writer that waits for another one is the very fault this looks for: it fails at once instead of after a while (Q7).
        await client.query(`SET lock_timeout = '250ms'; SET statement_timeout = '10s'`);
        return client;
      }),
    );
  });

  afterAll(async () => {
    await Promise.all(clients.map((client) => client.end()));
    await store.close();
    await database.drop();
  });

  it.each(['merge', 'rerun'] as const)(
    'Q4, Q5, Q6: every committed request is covered, one lease at a time (%s)',
    async (whenRunning) => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyCommand, { minLength: 4, maxLength: 40 }), async (commands) => {
          const world = new DedupeWorld(clients, observer, SCHEMA.quoted, store, whenRunning);
          try {
            for (const command of commands) {
              await world.play(command);
              await world.check();
            }
            await world.quiesce();
            expect(world.model.uncovered()).toEqual([]);
          } finally {
            for (const client of clients) await client.query('ROLLBACK');
          }
        }),
        { numRuns: 75, endOnFailure: false },
      );
    },
  );
});
