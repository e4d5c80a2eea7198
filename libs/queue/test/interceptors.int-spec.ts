import type { TestDatabase } from '@holdfast/testing';
import { defineJob } from '../src/domain/definition.js';
import { done, refuse, repeat } from '../src/domain/outcome.js';
import { type } from '../src/domain/payload.schema.js';
import type { JobAnswer, JobInterceptor } from '../src/handlers/job.interceptor.js';
import { eachStand } from './each.stand.js';
import { Gate, type RunnerStand } from './runner.stand.js';

const backoff = { delays: ['0ms'] };
const Attached = defineJob('seam.attached', { payload: type<{ text: string }>(), backoff, maxAttempts: 2 });
const Detached = defineJob('seam.detached', { payload: type<{ text: string }>(), backoff, maxAttempts: 2 });
const Short = defineJob('seam.short', { payload: type<object>(), backoff, maxAttempts: 1, timeout: '300ms' });
const Next = defineJob('seam.next', { payload: type<object>() });

type Intercept = JobInterceptor['intercept'];

describe('Interceptors (R20)', () => {
  let db: TestDatabase;
  let stand: RunnerStand;

  eachStand((at) => void ({ db, stand } = at));

  const intercept = (act: Intercept) =>
    stand.interceptors.register({ interceptor: { intercept: act }, source: 'the seam' });
  const write = (sql: { query(text: string, values: readonly unknown[]): Promise<unknown> }, text: string) =>
    sql.query('INSERT INTO effect (text) VALUES ($1)', [text]);
  const attached = () => stand.attached(Attached, async (job, ctx) => void (await write(ctx.tx.sql, job.payload.text)));

  it('R20: what one writes around an attached call commits with the completion, its follow-up jobs too', async () => {
    intercept(async (call, next) => {
      if (call.mode !== 'attached') return next();
      await write(call.ctx.tx.sql, 'before');
      const answer = await next();
      await write(call.ctx.tx.sql, 'after');
      await stand.jobs.enqueue(Next, {});
      return answer;
    });
    attached();
    const id = await stand.enqueue(Attached, { text: 'during' });
    await stand.start();
    await stand.seenOf('job.completed', id);
    expect(await stand.effects()).toEqual(['after', 'before', 'during']);
    const [row] = await db.adminQuery<{ jobs: string }>(
      `SELECT count(*) AS jobs FROM holdfast.job WHERE kind = 'seam.next'`,
    );
    expect(row?.jobs).toBe('1');
  });

  it('R20: what one throws is the failure of the attempt, and everything inside rolls back', async () => {
    intercept(async (call, next) => {
      const answer = await next();
      if (call.job.attempt === 1) throw new Error('after the handler');
      return answer;
    });
    attached();
    const id = await stand.enqueue(Attached, { text: 'once' });
    await stand.start();
    await expect(stand.seenOf('job.retried', id)).resolves.toMatchObject({ error: new Error('after the handler') });
    await stand.seenOf('job.completed', id);
    expect(await stand.effects()).toEqual(['once']);
  });

  it('R20: one may answer in place of the handler, which then does not run; its own writes go with a refusal', async () => {
    intercept(async (call) => {
      if (call.mode === 'attached') await write(call.ctx.tx.sql, 'rolled back');
      return refuse('seam.closed');
    });
    attached();
    const id = await stand.enqueue(Attached, { text: 'never' });
    await stand.start();
    await expect(stand.seenOf('job.refused', id)).resolves.toMatchObject({ code: 'seam.closed' });
    expect(await stand.effects()).toEqual([]);
  });

  it('R20: around a detached call there is no transaction; what finish settled stands whatever one does afterwards', async () => {
    const answers: JobAnswer[] = [];
    intercept(async (call, next) => {
      expect(call.mode).toBe('detached');
      expect('tx' in call.ctx).toBe(false);
      answers.push(await next());
      throw new Error('too late');
    });
    stand.detached(Detached, async (job, ctx) =>
      ctx.finish(async (tx) => void (await write(tx.sql, job.payload.text))),
    );
    const id = await stand.enqueue(Detached, { text: 'finished' });
    await stand.start();
    await stand.seenOf('job.completed', id);
    await expect(stand.seenOf('job.threw_after_finish', id)).resolves.toMatchObject({ error: new Error('too late') });
    expect(answers).toEqual([{ type: 'finished' }]);
    expect(await stand.effects()).toEqual(['finished']);
  });

  it('R20: a detached answer passes through, and one that pretends to be finished is found out', async () => {
    intercept(async (call, next) => (call.job.attempt === 1 ? { type: 'finished' } : next()));
    stand.detached(Detached, async () => Promise.resolve(done({ outcome: 'seam.done' })));
    const id = await stand.enqueue(Detached, { text: '' });
    await stand.start();
    await expect(stand.seenOf('job.retried', id)).resolves.toMatchObject({ code: 'queue.run_not_finished' });
    await expect(stand.seenOf('job.completed', id)).resolves.toMatchObject({ outcome: 'seam.done' });
  });

  it.each<['attached' | 'detached', typeof Attached | typeof Detached]>([
    ['attached', Attached],
    ['detached', Detached],
  ])('R2: one that swallows a lost lease of a run that is %s changes nothing', async (mode, definition) => {
    const gate = new Gate();
    intercept((_, next) => next().catch(() => done()));
    const handler = async (_job: unknown, ctx: { hold(): Promise<void> }) => {
      await gate.pass();
      await ctx.hold();
    };
    if (mode === 'attached') {
      stand.attached(Attached, async (job, ctx) => {
        await write(ctx.tx.sql, 'lost');
        await handler(job, ctx);
      });
    } else stand.detached(Detached, handler);
    const id = await stand.enqueue(definition, { text: '' });
    await stand.start();
    await gate.reached;
    await db.adminQuery(`UPDATE holdfast.job SET lease_token = gen_random_uuid() WHERE id = $1`, [id]);
    gate.open();
    await stand.seenOf('job.lost', id);
    expect(await stand.job(id)).toMatchObject({ state: 'RUNNING' });
    expect(await stand.effects()).toEqual([]);
  });

  it('R6: the timeout covers them, and one that swallows it changes nothing', async () => {
    intercept((call, next) =>
      next().then(
        () =>
          new Promise<JobAnswer>((resolve) => {
            call.ctx.signal.addEventListener('abort', () => resolve(done()), { once: true });
          }),
      ),
    );
    stand.attached(Short, async (_, ctx) => void (await write(ctx.tx.sql, 'too long')));
    const id = await stand.enqueue(Short, {});
    await stand.start();
    await expect(stand.seenOf('job.dead_lettered', id)).resolves.toMatchObject({ code: 'queue.timed_out' });
    expect(await stand.effects()).toEqual([]);
  });

  it('R3: one that swallows an SQL error of the handler does not make it done', async () => {
    intercept((call, next) => (call.job.attempt === 1 ? next().catch(() => done()) : next()));
    stand.attached(Attached, async (job, ctx) => {
      if (job.attempt === 1) await ctx.tx.sql.query('SELECT 1 / 0', []);
      await write(ctx.tx.sql, job.payload.text);
    });
    const id = await stand.enqueue(Attached, { text: 'second' });
    await stand.start();
    await stand.seenOf('job.retried', id);
    await stand.seenOf('job.completed', id);
    expect(await stand.effects()).toEqual(['second']);
  });

  it('R9: a serialization failure runs them again with the handler, within the attempt', async () => {
    let calls = 0;
    intercept(async (_, next) => {
      calls += 1;
      return next();
    });
    stand.attached(Attached, async (job, ctx) => {
      if (calls === 1) await ctx.tx.sql.query(`DO $$ BEGIN RAISE serialization_failure; END $$`, []);
      await write(ctx.tx.sql, job.payload.text);
    });
    const id = await stand.enqueue(Attached, { text: 'again' });
    await stand.start();
    await expect(stand.seenOf('job.completed', id)).resolves.toMatchObject({ run: { attempt: 1 } });
    expect(calls).toBe(2);
    expect(await stand.effects()).toEqual(['again']);
  });

  it('R20: one for a definition leaves the others alone, and repeat passes through it', async () => {
    const kinds: string[] = [];
    stand.interceptors.register({
      interceptor: {
        intercept: async (call: { definition: { kind: string } }, next: () => Promise<JobAnswer>) => {
          kinds.push(call.definition.kind);
          return next();
        },
      },
      only: [Detached],
      source: 'the seam',
    });
    attached();
    stand.detached(Detached, async () => Promise.resolve(repeat('1h')));
    const ids = [await stand.enqueue(Attached, { text: 'a' }), await stand.enqueue(Detached, { text: 'd' })];
    await stand.start();
    await stand.seenOf('job.completed', ids[0]!);
    await expect(stand.seenOf('job.completed', ids[1]!)).resolves.toMatchObject({ verb: 'repeat' });
    expect(kinds).toEqual(['seam.detached']);
  });
});
