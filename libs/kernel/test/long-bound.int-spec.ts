import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import { pgPool } from '../src/index.js';

describe('a transaction bound', () => {
  let db: TestDatabase;

  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.drop());

  it.each([30, 365])('K55: of %d days begins, on the longest that the server can hold', async (days) => {
    const open = await pgPool(db.pool()).begin({ boundMs: days * 86_400_000 });
    await open.transaction.sql.query('SELECT 1');
    await open.commit();
  });
});
