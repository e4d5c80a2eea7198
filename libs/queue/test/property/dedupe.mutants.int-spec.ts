import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import { SCHEMA } from '../store.harness.js';
import { DedupeProperty } from './dedupe.property.js';
import { type Mutant, MUTANTS } from './mutants.js';

/** Far more than any of them takes; most are found within the first ten. */
const MOST_RUNS = 500;

describe('the property of keys can fail', () => {
  let database: TestDatabase;
  let property: DedupeProperty | undefined;

  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    await property?.close();
    await database.drop();
  });

  it.each(MUTANTS)('Q4, Q5, Q6: it finds the fault that $name ($in)', async (mutant) => {
    await infect(mutant);
    property = await DedupeProperty.open(database);
    const result = await fc.check(property.of(mutant.whenRunning), { endOnFailure: true, numRuns: MOST_RUNS });
    expect(result.failed).toBe(true);
  });

  async function infect({ in: routine, replace }: Mutant): Promise<void> {
    const [made] = await database.adminQuery<{ text: string }>(
      `SELECT pg_get_functiondef('${SCHEMA.of(routine)}'::regproc) AS text`,
    );
    let text = made!.text;
    for (const [from, to] of replace) {
      expect(text).toContain(from);
      text = text.replaceAll(from, () => to);
    }
    await database.adminQuery(text);
  }
});
