import { pgPool } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase, waitFor } from '@holdfast/testing';
import { createQueue } from '../../src/assembly/holdfast.queue.js';
import { defineJob } from '../../src/domain/definition.js';
import { type } from '../../src/domain/payload.schema.js';
import { RETENTION } from '../../src/scheduler/scheduler.js';
import { SCHEMA } from '../store.harness.js';
import { finish, left } from './finished.jobs.js';

const Kept = defineJob('job.kept', { payload: type<object>(), retention: { deadLetter: 'forever', succeeded: '3h' } });

describe('the option retention', () => {
  let db: TestDatabase;

  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.drop());

  it('S5: a queue removes by its option, and by what the definitions of its handlers say', async () => {
    const database = pgPool(db.pool({ max: 12 }));
    const queue = createQueue({ database, retention: { deadLetter: '2h', succeeded: '1h' } });
    queue.handle(Kept, { run: async () => undefined });
    // Jobs of a queue that already runs: they come when its runner has said what its definitions say.
    await queue.start();
    await waitFor(async () => (await db.adminQuery(`SELECT FROM ${SCHEMA.of('job_retention')}`)).length === 2, {
      what: 'the runner to have said it',
    });
    for (const kind of ['job.kept', 'job.other']) {
      await finish(db, { age: '90 minutes', kind });
      await finish(db, { age: '1 year', kind, state: 'DEAD_LETTER' });
      await finish(db, { age: '90 minutes', kind, state: 'DEAD_LETTER' });
    }
    await queue.scheduler.runNow(RETENTION);
    const count = async () => Object.values(await left(db)).reduce((sum, jobs) => sum + jobs, 0);
    await waitFor(async () => (await count()) <= 4, { what: 'the jobs to go' });
    await queue.close();
    expect(await left(db)).toEqual({
      'job.kept DEAD_LETTER': 2,
      'job.kept SUCCEEDED': 1,
      'job.other DEAD_LETTER': 1,
    });
  });
});
