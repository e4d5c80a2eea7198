import { pgPool } from '@holdfast/kernel';
import { createTestDatabase, within, type TestDatabase } from '@holdfast/testing';
import { createQueue, defineJob, type } from '../../src/core.js';

const Job = defineJob('test.job', { payload: type<object>() });

describe('K118: a queue without Nest that is closed', () => {
  let db: TestDatabase;
  beforeAll(async () => (db = await createTestDatabase()));
  afterAll(() => db.drop());

  it.each(['off', 'check'] as const)('while it starts does not run afterwards (migrations: %s)', async (migrations) => {
    const started: string[] = [];
    const reporter = { report: (event: { type: string }) => void started.push(event.type) };
    const queue = createQueue({ database: pgPool(db.pool({ max: 12 })), migrations, reporter });
    queue.handle(Job, { run: () => Promise.resolve() });
    const starting = queue.start().catch(() => undefined);
    await within(queue.close(), 10_000, 'the close');
    await within(starting, 10_000, 'the start');
    expect(started).toEqual([]);
    await within(
      queue.start().catch(() => undefined),
      10_000,
      'a late start',
    );
    expect(started).toEqual([]);
  });
});
