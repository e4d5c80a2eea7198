import { ControlConnections } from '@holdfast/kernel';
import type { TestDatabase } from '@holdfast/testing';
import { defineJob } from '../src/domain/definition.js';
import { PermanentError } from '@holdfast/kernel';
import type { EndedJob } from '../src/domain/on-end.js';
import { type } from '../src/domain/payload.schema.js';
import { PostgresJobs } from '../src/postgres/postgres.jobs.js';
import { emptied, RunnerStand, standDatabase } from './runner.stand.js';
import { SCHEMA } from './store.harness.js';

const Tell = defineJob('test.tell', { payload: type<EndedJob>() });
const Write = defineJob('test.write', { onEnd: { deadLetter: Tell }, payload: type<{ order: number }>() });

describe('What follows on the end of a job', () => {
  let db: TestDatabase;
  let stand: RunnerStand;

  beforeAll(async () => (db = await standDatabase()));
  beforeEach(async () => {
    await emptied(db);
    await db.adminQuery('TRUNCATE holdfast.job_ending');
    stand = await RunnerStand.open(db);
  });
  afterEach(() => stand.close());
  afterAll(() => db.drop());

  it('R14: the first job that a runner ends already has its follow-up, which runs; a second death makes a second one', async () => {
    const told: EndedJob[] = [];
    stand.attached(Write, () => Promise.reject(new PermanentError('order.gone')));
    stand.attached(Tell, ({ payload }) => Promise.resolve(void told.push(payload)));
    const jobs = new PostgresJobs(
      new ControlConnections({ connectionString: db.url }, { applicationName: 'operator', deadlineMs: 10_000, max: 1 }),
      SCHEMA,
    );
    const connections = (jobs as unknown as { connections: ControlConnections }).connections;
    try {
      const id = await stand.enqueue(Write, { order: 7 });
      const runner = await stand.start({ pollMs: 100 });
      await stand.seenOf('job.dead_lettered', id);
      runner.wake();
      await stand.seen('job.completed', ({ run }) => run.kind === Tell.kind);
      const ended = {
        code: 'order.gone',
        jobId: id,
        kind: Write.kind,
        payload: { order: 7 },
        payloadVersion: 1,
        state: 'DEAD_LETTER',
      };
      expect(told).toEqual([ended]);
      await jobs.requeue(id);
      await stand.seenOf('job.dead_lettered', id);
      runner.wake();
      await stand.seen('job.completed', ({ run }) => run.kind === Tell.kind);
      expect(told).toEqual([ended, ended]);
    } finally {
      await connections.close();
    }
  });

  it('R14, R18: nothing is taken before the database knows what follows; a failure there is told and tried again', async () => {
    const broken = await RunnerStand.open(db, {
      store: (store) => {
        const declare = store.declareEndings.bind(store);
        let tries = 0;
        store.declareEndings = (...said) => (tries++ < 2 ? Promise.reject(new Error('It is away.')) : declare(...said));
        return store;
      },
    });
    try {
      broken.attached(Write, () => Promise.resolve());
      const id = await broken.enqueue(Write, { order: 7 });
      await broken.start({ pollMs: 50 });
      for (let failures = 1; failures <= 2; failures++)
        expect(await broken.seen('loop.failed')).toMatchObject({ failures, stage: 'endings' });
      expect(await stand.job(id)).toMatchObject({ state: 'PENDING' });
      await broken.seenOf('job.completed', id);
    } finally {
      await broken.close();
    }
  });
});
