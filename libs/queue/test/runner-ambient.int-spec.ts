import { ambientTransaction } from '@holdfast/kernel';
import { defineJob } from '../src/domain/definition.js';
import { type } from '../src/domain/payload.schema.js';
import { NoTransactionError } from '../src/errors/no-transaction.error.js';
import { eachStand } from './each.stand.js';
import type { RunnerStand } from './runner.stand.js';

const Call = defineJob('test.call', { payload: type<object>() });
const Write = defineJob('test.write', { payload: type<object>() });

describe('A runner that is started or woken inside a unit of work', () => {
  let stand: RunnerStand;

  eachStand((at) => void ({ stand } = at));

  it("Q1, R1: its handlers see their own transaction, or none, and never the caller's", async () => {
    const { identity } = stand.database;
    const seen: unknown[] = [];
    stand
      .detached(Call, async () => {
        seen.push(ambientTransaction(identity));
        await stand.jobs.enqueue(Call, {}).catch((error: unknown) => seen.push(error));
      })
      .attached(Write, async (_job, ctx) => {
        seen.push(ambientTransaction(identity) === ctx.tx);
        await ctx.tx.sql.query("INSERT INTO effect VALUES ('written')");
      });
    const call = await stand.enqueue(Call, {});
    let write = '';
    await stand.unitOfWork.run(async () => {
      const runner = await stand.start();
      await stand.seenOf('job.completed', call);
      write = await stand.enqueue(Write, {});
      runner.wake();
      await stand.seenOf('job.completed', write);
    });
    expect(seen).toEqual([undefined, expect.any(NoTransactionError), true]);
    expect(await stand.effects()).toEqual(['written']);
  });
});
