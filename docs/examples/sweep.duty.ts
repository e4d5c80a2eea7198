import { createQueue, type Database, type DutyContext, JobQueue, LeaderDuty, type Scheduler } from '@holdfast/queue';
import { Injectable } from '@nestjs/common';
import { SendReceipt } from './jobs.js';

@Injectable()
export class CartSweep {
  constructor(private readonly jobs: JobQueue) {}

  @LeaderDuty({ name: 'cart.sweep', every: '1h', deadline: '1m' })
  async sweep(ctx: DutyContext): Promise<void> {
    await ctx.transaction(async (executor) => {
      const { rows } = await executor.query<{ id: string }>(
        `DELETE FROM cart WHERE id IN (SELECT id FROM cart WHERE touched_at < now() - interval '30 days' LIMIT 500) RETURNING id`,
      );
      for (const { id } of rows) await this.jobs.enqueue(SendReceipt, { orderId: id }, { in: executor });
    });
  }
}

export function plainDuty(database: Database): ReturnType<typeof createQueue> {
  const queue = createQueue({ database });
  queue.duty({ name: 'cart.sweep', every: '1h' }, async (ctx) => {
    await ctx.transaction((executor) =>
      executor.query(`DELETE FROM cart WHERE touched_at < now() - interval '30 days'`),
    );
  });
  return queue;
}

export async function lateDuties(scheduler: Scheduler): Promise<string[]> {
  const runs = await scheduler.lastRuns();
  return runs.filter(({ failures, state }) => failures > 0 || state === 'vanished').map(({ name }) => name);
}
