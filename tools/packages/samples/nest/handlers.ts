import {
  done,
  InterceptJobs,
  JobHandler,
  JobInterceptor,
  LeaderDuty,
  OnJobEvent,
  type AttachedContext,
  type AttachedHandler,
  type DetachedContext,
  type DetachedHandler,
  type DutyContext,
  type EventOf,
  type JobAnswer,
  type JobCall,
  type JobOf,
} from '@holdfast/queue';
import { Inject, Injectable, Scope } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { CountSale, SendReceipt } from './jobs.js';
import { Order } from './order.entity.js';

@JobHandler(CountSale)
export class CountSaleHandler implements AttachedHandler<typeof CountSale> {
  async run(job: JobOf<typeof CountSale>, ctx: AttachedContext): Promise<void> {
    await ctx.tx.sql.query('UPDATE shop SET sold = sold + 1 WHERE id = $1', [job.payload.shopId]);
  }
}

/** SendReceiptHandler is made anew for each job, which it is also given as the request. */
@Injectable({ scope: Scope.REQUEST })
@JobHandler(SendReceipt, { detached: true })
export class SendReceiptHandler implements DetachedHandler<typeof SendReceipt> {
  constructor(@Inject(REQUEST) private readonly asked: JobOf<typeof SendReceipt>) {}

  async run(job: JobOf<typeof SendReceipt>, ctx: DetachedContext) {
    const { orderId } = this.asked.payload;
    return ctx.finish(async (tx) => {
      await tx.manager.update(Order, { id: orderId }, { receipt: `job ${job.id} for ${orderId}` });
      return done({ outcome: 'receipt.sent' });
    });
  }
}

@InterceptJobs()
export class CallLog extends JobInterceptor {
  readonly kinds: string[] = [];

  override async intercept(call: JobCall, next: () => Promise<JobAnswer>): Promise<JobAnswer> {
    this.kinds.push(`${call.mode} ${call.definition.kind}`);
    return next();
  }
}

@Injectable()
export class ReceiptListener {
  /** heard resolves with the first receipt's job. */
  readonly heard: Promise<string>;
  private hear: (jobId: string) => void = () => undefined;

  constructor() {
    this.heard = new Promise((resolve) => (this.hear = resolve));
  }

  @OnJobEvent('job.completed', SendReceipt)
  onReceipt(event: EventOf<'job.completed'>): void {
    this.hear(event.run.id);
  }
}

@Injectable()
export class Restocking {
  @LeaderDuty({ name: 'shop.restock', every: '1h', deadline: '10s' })
  async restock(ctx: DutyContext): Promise<void> {
    await ctx.transaction((sql) => sql.query('UPDATE shop SET stock = 100'));
  }
}
