import type { TestDatabase } from '@holdfast/testing';
import { defineJob } from '../src/domain/definition.js';
import { done, refuse, repeat } from '../src/domain/outcome.js';
import { type } from '../src/domain/payload.schema.js';
import { emptied, RunnerStand, standDatabase } from './runner.stand.js';

const Write = defineJob('test.write', { payload: type<{ text: string }>() });
const Call = defineJob('test.call', { payload: type<{ text: string }>() });
const Flaky = defineJob('test.flaky', { payload: type<{ text: string }>(), backoff: { delays: ['0ms'] } });

describe.each(['pg', 'typeorm'] as const)('Runner on %s', (using) => {
  let db: TestDatabase;
  let stand: RunnerStand;

  beforeAll(async () => (db = await standDatabase()));
  beforeEach(async () => {
    await emptied(db);
    stand = await RunnerStand.open(db, { using });
  });
  afterEach(() => stand.close());
  afterAll(() => db.drop());

  it('R1: an attached handler, its writes, its follow-up job and its completion commit together', async () => {
    stand
      .attached(Write, async (job, ctx) => {
        await ctx.tx.sql.query('INSERT INTO effect VALUES ($1)', [job.payload.text]);
        await stand.jobs.enqueue(Call, { text: 'follow-up' });
        return done({ counts: { rows: 1 }, outcome: 'test.written' });
      })
      .detached(Call, () => Promise.resolve());
    const runner = await stand.start();
    const id = await stand.enqueue(Write, { text: 'a' });
    runner.wake();
    const event = await stand.seenOf('job.completed', id);
    expect(event).toMatchObject({ counts: { rows: 1 }, outcome: 'test.written', verb: 'complete' });
    expect(await stand.effects()).toEqual(['a']);
    expect(await stand.job(id)).toMatchObject({ attempt: 1, outcome: 'test.written', state: 'SUCCEEDED' });
    runner.wake();
    await stand.seen('job.completed', (other) => other.run.kind === Call.kind);
  });

  it('R7, R22: a detached handler ends by its answer, or by ctx.finish together with its writes', async () => {
    stand.detached(Call, async (job, ctx) =>
      job.payload.text === 'finish'
        ? ctx.finish(async (tx) => {
            await tx.sql.query('INSERT INTO effect VALUES ($1)', ['finished']);
            return done({ outcome: 'test.finished' });
          })
        : done({ outcome: 'test.called' }),
    );
    const runner = await stand.start();
    const [plain, finish] = [
      await stand.enqueue(Call, { text: 'plain' }),
      await stand.enqueue(Call, { text: 'finish' }),
    ];
    runner.wake();
    await stand.seenOf('job.completed', plain);
    await stand.seenOf('job.completed', finish);
    expect(await stand.job(plain)).toMatchObject({ outcome: 'test.called', state: 'SUCCEEDED' });
    expect(await stand.job(finish)).toMatchObject({ outcome: 'test.finished', state: 'SUCCEEDED' });
    expect(await stand.effects()).toEqual(['finished']);
  });

  it('K2: a failed attempt is rolled back, recorded and run again', async () => {
    stand.attached(Flaky, async (job, ctx) => {
      await ctx.tx.sql.query('INSERT INTO effect VALUES ($1)', [`${job.payload.text}${job.attempt}`]);
      if (job.attempt === 1) await ctx.tx.sql.query('SELECT nothing FROM nowhere');
    });
    const runner = await stand.start();
    const id = await stand.enqueue(Flaky, { text: 'x' });
    runner.wake();
    const retried = await stand.seenOf('job.retried', id);
    expect(retried.code).toBe('queue.job_failed');
    runner.wake();
    await stand.seenOf('job.completed', id);
    expect(await stand.effects()).toEqual(['x2']);
    const job = await stand.job(id);
    expect(job).toMatchObject({ attempt: 2, state: 'SUCCEEDED' });
    expect(job.failures).toMatchObject([{ attempt: 1, class: expect.stringContaining('42P01') as string }]);
  });

  it('R11, R12: repeat sends the row back with attempts 0; refuse rolls back and ends as FAILED', async () => {
    stand.attached(Write, async (job, ctx) => {
      await ctx.tx.sql.query('INSERT INTO effect VALUES ($1)', [job.payload.text]);
      return job.payload.text === 'again' ? repeat('1h') : refuse('test.closed', { since: 'today' });
    });
    const runner = await stand.start();
    const [again, refused] = [
      await stand.enqueue(Write, { text: 'again' }),
      await stand.enqueue(Write, { text: 'no' }),
    ];
    runner.wake();
    expect(await stand.seenOf('job.completed', again)).toMatchObject({ verb: 'repeat' });
    expect(await stand.seenOf('job.refused', refused)).toMatchObject({ code: 'test.closed' });
    const row = await stand.job(again);
    expect(row).toMatchObject({ attempt: 0, state: 'PENDING' });
    expect(row.due_in_ms).toBeGreaterThan(3_500_000);
    expect(await stand.job(refused)).toMatchObject({
      refusal: { code: 'test.closed', params: { since: 'today' } },
      state: 'FAILED',
    });
    expect(await stand.effects()).toEqual(['again']);
  });
});
