import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import { PostgresJobStore } from '../../src/postgres/postgres.job-store.js';
import { SqlFaceJobStore } from '../sql-face.job-store.js';
import { DedupeProperty } from './dedupe.property.js';

describe.each([
  ['enqueued by code', PostgresJobStore, 'Q4, Q5, Q6'],
  ['enqueued by the function enqueue', SqlFaceJobStore, 'Q9, Q4, Q5, Q6'],
] as const)('a key under random interleavings on real connections, %s', (_by, Store, rules) => {
  let database: TestDatabase;
  let property: DedupeProperty;

  beforeAll(async () => {
    database = await createTestDatabase();
    property = await DedupeProperty.open(database, Store);
  });

  afterAll(async () => {
    await property.close();
    await database.drop();
  });

  it.each(['merge', 'rerun'] as const)(
    `${rules}: every committed request is covered, in time, with the payload it may expect, one lease at a time (%s)`,
    (whenRunning) => fc.assert(property.of(whenRunning), { numRuns: 50 }),
  );
});
