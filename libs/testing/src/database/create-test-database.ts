import { DatabaseError, escapeIdentifier } from 'pg';
import { waitFor } from '../wait/wait-for.js';
import { AdminConnection } from './admin.connection.js';
import { TestDatabase } from './test-database.js';
import { testbed, uniqueName } from './testbed.js';

const TEMPLATE_BUSY = '55006';
const DUPLICATE = '23505';

/** createTestDatabase answers a database of its own with the migrations applied in schema `holdfast`: a clone of the run's template. */
export function createTestDatabase(): Promise<TestDatabase> {
  return create(testbed().template);
}

/** createEmptyDatabase answers a database of its own in which nothing has been created. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return create('template0');
}

async function create(template: string): Promise<TestDatabase> {
  const name = uniqueName('db');
  const server = new AdminConnection(testbed().url);
  const cloned = () =>
    server.query(`CREATE DATABASE ${escapeIdentifier(name)} TEMPLATE ${escapeIdentifier(template)}`).then(
      () => true,
      (error: unknown) => {
        // The server may be looking into the template itself (autovacuum): that passes.
        if (error instanceof DatabaseError && (error.code === TEMPLATE_BUSY || error.code === DUPLICATE)) return false;
        throw error;
      },
    );
  try {
    await waitFor(cloned, { deadlineMs: 30_000, everyMs: 100, what: `a clone of ${template}` });
  } finally {
    await server.end();
  }
  return new TestDatabase(name);
}
