import { within } from '@holdfast/testing';
import type { DutyContext } from '../../src/ports/duty.js';
import { gate, SchedulerStand } from '../scheduler/scheduler.stand.js';

const WITHIN_MS = 20_000;
const INSERT = 'INSERT INTO written (by) VALUES ($1)';

describe('duties that misbehave', () => {
  let stand: SchedulerStand;

  beforeAll(async () => {
    stand = await SchedulerStand.open({ abortWaitMs: 50, stopWaitMs: 100, tickMs: 1_000 });
    await stand.db.adminQuery('CREATE TABLE written (by text)');
  });
  afterEach(() => stand.end());
  afterAll(() => stand.close());

  const written = async () => (await stand.db.adminQuery<{ by: string }>('SELECT by FROM written')).map(({ by }) => by);
  const write = (ctx: DutyContext, by: string) => ctx.transaction((sql) => sql.query(INSERT, [by]));
  /** A duty that goes on, whatever it is told, and tries to write once the gate is open; further runs do nothing. */
  const deaf = (deadline: string) => {
    const opened = gate();
    const wrote = gate();
    const errors: unknown[] = [];
    let runs = 0;
    const run = async (ctx: DutyContext) => {
      if (runs++ > 0) return;
      await opened.opened;
      for (let i = 0; i < 20; i++) await write(ctx, 'deaf').catch((error: unknown) => errors.push(error));
      wrote.open();
    };
    return { duty: { deadline, every: '1h', name: 'deaf.duty', run }, errors, go: opened, wrote: wrote.opened };
  };

  it('L3, S3: a duty that goes on after its deadline commits nothing more through the leader’s connection', async () => {
    const { duty, errors, go, wrote } = deaf('300ms');
    const test = stand.scheduler({}, duty);
    await test.scheduler.start();
    await test.seen('duty.failed');
    go.open();
    await within(wrote, WITHIN_MS, 'the duty to try');
    expect(await written()).toEqual([]);
    expect(errors).toHaveLength(20);
    expect(errors[0]).toMatchObject({ code: 'queue.duty_timed_out' });
  });

  it('L3: a duty of a leadership that was lost commits nothing in a later one of the same process', async () => {
    const { duty, errors, go, wrote } = deaf('1m');
    const test = stand.scheduler({}, duty);
    await test.scheduler.start();
    await test.seen('duty.started', ({ name }) => name === 'deaf.duty');
    await stand.db.terminateBackends("application_name = 'holdfast-leader'");
    await test.seen('leader.lost');
    await test.seen('leader.elected', () => true, 2);
    go.open();
    await within(wrote, WITHIN_MS, 'the duty to try');
    expect(await written()).toEqual([]);
    expect(errors[0]).toMatchObject({ code: 'kernel.connection_lost' });
  });

  it('L3: what a duty has kept of its context is of no use when it has returned', async () => {
    const kept: { ctx?: DutyContext } = {};
    const run = (ctx: DutyContext) => void (kept.ctx ??= ctx);
    const test = stand.scheduler({}, { every: '1h', name: 'kept.ctx', run });
    await test.scheduler.start();
    await test.seen('duty.done', ({ name }) => name === 'kept.ctx');
    await expect(write(kept.ctx!, 'kept')).rejects.toMatchObject({ code: 'kernel.transaction_settled' });
    expect(await written()).toEqual([]);
  });

  it('S3: a transaction inside a transaction of the duty is refused at once, and the outer one commits; a later one is a new one', async () => {
    await stand.db.adminQuery('TRUNCATE written');
    const refused: unknown[] = [];
    const run = async (ctx: DutyContext) => {
      await ctx.transaction(async (sql) => {
        await write(ctx, 'inner').catch((error: unknown) => refused.push(error));
        await sql.query(INSERT, ['outer']);
      });
      await write(ctx, 'after');
    };
    const test = stand.scheduler({}, { every: '1h', name: 'nested.duty', run });
    await test.scheduler.start();
    await test.seen('duty.done', ({ name }) => name === 'nested.duty');
    expect(refused).toMatchObject([{ code: 'queue.nested_leader_transaction' }]);
    expect(await written()).toEqual(['outer', 'after']);
  });

  it('S3: a duty that is told to stop may still write down how far it has come', async () => {
    await stand.db.adminQuery('TRUNCATE written');
    const run = async (ctx: DutyContext) => {
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
      await write(ctx, 'stopping');
    };
    const test = stand.scheduler({ stopWaitMs: 10_000 }, { every: '1h', name: 'stops.well', run });
    await test.scheduler.start();
    await test.seen('duty.started', ({ name }) => name === 'stops.well');
    await test.scheduler.stop();
    expect(await written()).toEqual(['stopping']);
    expect(test.all('duty.done', ({ name }) => name === 'stops.well')).toHaveLength(1);
  });
});
