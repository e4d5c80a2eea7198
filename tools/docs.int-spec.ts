import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';

const GUIDE = readFileSync(path.join(__dirname, '../docs/troubleshooting.md'), 'utf8');

function statementsOf(guide: string): string[] {
  const blocks = [...guide.matchAll(/^```sql\n([\s\S]*?)^```$/gm)].map(([, sql]) => sql!.replaceAll(/^--.*$/gm, ''));
  return blocks.flatMap((sql) => sql.split(';')).filter((statement) => statement.trim() !== '');
}

/** A finished job, as its row is. */
function finished(id: number, state: number, daysAgo: number): string {
  return `INSERT INTO holdfast.job (id, kind, state, attempt, max_attempts, payload, finished_at, error_code, failures)
    VALUES (${id}, 'report.write', ${state}, 8, 8, '{}', now() - interval '${daysAgo} days', 'queue.timed_out', '[]')`;
}

describe('the statements in the troubleshooting guide', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it('run on the tables as they are, and requeue a dead letter whole', async () => {
    for (const insert of [finished(42, 4, 1), finished(44, 2, 13)]) await database.adminQuery(insert);

    const statements = statementsOf(GUIDE);
    expect(statements.length).toBeGreaterThan(5);
    for (const statement of statements) await database.adminQuery(statement);

    expect(
      await database.adminQuery(
        'SELECT id::int, state, attempt, finished_at, error_code FROM holdfast.job ORDER BY id',
      ),
    ).toEqual([
      { id: 42, state: 0, attempt: 0, finished_at: null, error_code: null },
      { id: 44, state: 2, attempt: 8, finished_at: expect.any(Date) as Date, error_code: 'queue.timed_out' },
    ]);
  });
});
