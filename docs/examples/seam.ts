import {
  type AttachedContext,
  type AttachedHandler,
  createQueue,
  type EventOf,
  InterceptJobs,
  type Job,
  type JobAnswer,
  type JobCall,
  JobHandler,
  type JobInterceptor,
  type JobOf,
  OnJobEvent,
  pgPool,
  refuse,
} from '@holdfast/queue';
import { Inject, Injectable, Scope } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { Pool } from 'pg';
import { RecordSale, SendReceipt } from './jobs.js';

@InterceptJobs()
export class Stopwatch implements JobInterceptor {
  async intercept({ job, mode }: JobCall, next: () => Promise<JobAnswer>): Promise<JobAnswer> {
    const from = performance.now();
    try {
      return await next();
    } finally {
      console.log(`${job.kind} ${job.id} (${mode}) took ${Math.round(performance.now() - from)} ms`);
    }
  }
}

@InterceptJobs({ only: [RecordSale], order: -10 })
export class ClosedShops implements JobInterceptor<typeof RecordSale> {
  async intercept({ job }: JobCall<typeof RecordSale>, next: () => Promise<JobAnswer>): Promise<JobAnswer> {
    return job.payload.shopId === 'closed' ? refuse('shop.closed') : next();
  }
}

@Injectable({ scope: Scope.REQUEST })
export class Till {
  constructor(@Inject(REQUEST) private readonly job: Job) {}

  get label(): string {
    return `${this.job.tenantId ?? 'system'}/${this.job.id}`;
  }
}

@JobHandler(RecordSale)
export class BookSaleHandler implements AttachedHandler<typeof RecordSale> {
  constructor(private readonly till: Till) {}

  run = async (job: JobOf<typeof RecordSale>, ctx: AttachedContext) => {
    await ctx.tx.sql.query('INSERT INTO booking (till, cents) VALUES ($1, $2)', [this.till.label, job.payload.cents]);
  };
}

/** Pager stands for any way to reach people. */
export abstract class Pager {
  abstract page(text: string): Promise<void>;
}

@Injectable()
export class OnCall {
  constructor(private readonly pager: Pager) {}

  @OnJobEvent('job.dead_lettered', SendReceipt)
  async dead({ code, run }: EventOf<'job.dead_lettered'>): Promise<void> {
    await this.pager.page(`Receipt ${run.id} will not be sent: ${code}`);
  }
}

export function plain(pool: Pool): void {
  const queue = createQueue({ database: pgPool(pool) });
  queue.intercept(new Stopwatch()).intercept(new ClosedShops(), { only: [RecordSale], order: -10 });
  queue.runner.events.subscribe((event) => {
    if (event.type === 'job.dead_lettered') console.error(event.run.id, event.code);
  });
}
