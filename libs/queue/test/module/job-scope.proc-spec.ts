import { createTestDatabase, spawnTs, type TestDatabase } from '@holdfast/testing';

describe('Request-scoped handlers in a process', () => {
  let db: TestDatabase;
  beforeAll(async () => (db = await createTestDatabase()));
  afterAll(() => db.drop());

  it('R20: nothing that was made for a job is left when the job is over', async () => {
    const child = spawnTs('libs/queue/test/module/job-scope.child.ts', {
      env: { DATABASE_URL: db.url },
      nodeArgs: ['--expose-gc'],
    });
    const { alive, made } = (await child.event('counted')) as unknown as { alive: number; made: number };
    // 30 jobs: the handler, what it injects, and the job as REQUEST.
    expect(made).toBe(30 * 4);
    expect(alive).toBe(0);
    await child.exit();
  });
});
