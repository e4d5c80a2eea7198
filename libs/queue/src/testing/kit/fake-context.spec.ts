import { defineJob } from '../../domain/definition.js';
import { done, repeat } from '../../domain/outcome.js';
import { type } from '../../domain/payload.schema.js';
import { InvalidOutcomeError } from '../../errors/invalid-outcome.error.js';
import { RunSettledError } from '../../errors/run-settled.error.js';
import { RunStoppedError } from '../../errors/run-stopped.error.js';
import { fakeContext } from './fake-context.js';

const Ship = defineJob('order.ship', { payload: type<{ order: string }>() });

describe('fakeContext', () => {
  it('attached: keeps statements, holds, reports and what was enqueued, and calls afterCommit on commit', async () => {
    const ctx = fakeContext('attached', {
      sql: (text) => (text.startsWith('SELECT') ? [{ n: 1 }] : []),
      tenantId: 'acme',
    });
    expect(await ctx.tx.sql.query('SELECT n FROM t WHERE id = $1', ['a'])).toEqual({ rowCount: 1, rows: [{ n: 1 }] });
    let committed = false;
    ctx.tx.afterCommit(() => void (committed = true));
    await ctx.hold();
    await ctx.jobs.enqueue(Ship, { order: 'A' }, { in: ctx.tx, runIn: '5m' });
    expect(committed).toBe(false);
    await ctx.commit();
    expect(committed).toBe(true);
    expect(ctx.statements).toEqual([{ text: 'SELECT n FROM t WHERE id = $1', values: ['a'] }]);
    expect(ctx.holds).toBe(1);
    expect(ctx.enqueued).toMatchObject([
      { dueInMs: 300_000, kind: 'order.ship', payload: { order: 'A' }, tenantId: 'acme' },
    ]);
    await expect(ctx.jobs.enqueue(Ship, [] as never, { in: 'own' })).rejects.toMatchObject({
      code: 'queue.payload_refused',
    });
  });

  it('has no database unless it is given one', async () => {
    await expect(fakeContext('attached').tx.sql.query('SELECT 1')).rejects.toThrow(/runHandler/);
  });

  it('detached: finish runs its work, keeps the outcome and settles the run; what the work throws comes back', async () => {
    const ctx = fakeContext('detached');
    await expect(ctx.finish(() => Promise.reject(new Error('lost')))).rejects.toThrow('lost');
    await expect(ctx.finish(() => Promise.resolve({ type: 'nothing' } as never))).rejects.toThrow(InvalidOutcomeError);
    expect(ctx.finished).toBeUndefined();
    await expect(ctx.finish(() => Promise.resolve(repeat('1h')))).resolves.toEqual({ type: 'finished' });
    expect(ctx.finished).toEqual(repeat('1h'));
    await expect(ctx.finish(() => Promise.resolve(done()))).rejects.toThrow(RunSettledError);
  });

  it('aborts its signal as a shutdown does, or with the reason that is given', () => {
    const ctx = fakeContext('attached');
    expect(ctx.signal.aborted).toBe(false);
    ctx.abort();
    expect(ctx.signal.reason).toBeInstanceOf(RunStoppedError);
    const other = fakeContext('detached');
    other.abort(new Error('late'));
    expect(other.signal.reason).toEqual(new Error('late'));
  });
});
