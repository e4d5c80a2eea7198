import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import { DedupeProperty } from './dedupe.property.js';

describe('a key under random interleavings on real connections', () => {
  let database: TestDatabase;
  let property: DedupeProperty;

  beforeAll(async () => {
    database = await createTestDatabase();
    property = await DedupeProperty.open(database);
  });

  afterAll(async () => {
    await property.close();
    await database.drop();
  });

  it.each(['merge', 'rerun'] as const)(
    'Q4, Q5, Q6: every committed request is covered, in time, with the payload it may expect, one lease at a time (%s)',
    (whenRunning) => fc.assert(property.of(whenRunning), { numRuns: 50 }),
  );
});
