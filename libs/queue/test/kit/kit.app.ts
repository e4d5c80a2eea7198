import 'reflect-metadata';
import { type Database, UnavailableError } from '@holdfast/kernel';
import type { TestDatabase } from '@holdfast/testing';
import { Inject, Injectable, Module, Scope } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import {
  type AttachedContext,
  defineJob,
  type DetachedContext,
  done,
  InterceptJobs,
  type Job,
  type JobAnswer,
  type JobCall,
  JobHandler,
  type JobInterceptor,
  type JobOf,
  JobQueue,
  OnJobEvent,
  QueueModule,
  refuse,
  repeat,
  Runner,
  type,
} from '../../src/index.js';

export const Pay = defineJob('order.pay', {
  backoff: { delays: ['10m'] },
  payload: type<{ how?: string; order: string; lines?: readonly { sku: string; count: number }[] }>(),
  maxAttempts: 3,
});
export const Ship = defineJob('order.ship', { payload: type<{ order: string; wrong?: boolean }>() });
export const Sweep = defineJob('order.sweep', { payload: type<{ every: string }>() });
export const Mark = defineJob('order.mark', { payload: type<{ order: string }>() });

/** told is what interceptors and listeners of the application have seen. */
export const told: string[] = [];

@Injectable({ scope: Scope.REQUEST })
class CurrentOrder {
  constructor(@Inject(REQUEST) private readonly job: Job<{ order: string }>) {}

  get id(): string {
    return this.job.payload.order;
  }
}

/** PayHandler is attached and request-scoped. */
@JobHandler(Pay)
export class PayHandler {
  constructor(
    private readonly current: CurrentOrder,
    private readonly jobs: JobQueue,
  ) {}

  run = async (job: JobOf<typeof Pay>, ctx: AttachedContext) => {
    const { id } = this.current;
    await ctx.tx.sql.query('INSERT INTO paid (id, attempt) VALUES ($1, $2)', [id, job.attempt]);
    ctx.tx.afterCommit(() => void told.push(`committed ${id}`));
    await this.jobs.enqueue(Ship, { order: id });
    switch (job.payload.how) {
      case 'bare':
        throw new Error('no money');
      case 'deferred':
        return void (await ctx.tx.sql.query("INSERT INTO paid (id, attempt, parent) VALUES ('x' || $1, 1, 'nobody')", [
          id,
        ]));
      case 'refuse':
        return refuse('order.unknown', { order_at: 'nowhere' });
      case 'unavailable':
        throw new UnavailableError('bank.away', { message: 'away' });
      default:
        return done({ counts: { paid: 1 }, outcome: 'order.paid' });
    }
  };
}

/** ShipHandler is detached. */
@JobHandler(Ship, { detached: true })
export class ShipHandler {
  constructor(private readonly jobs: JobQueue) {}

  run = (job: JobOf<typeof Ship>, ctx: DetachedContext) =>
    ctx.finish(async (tx) => {
      if (job.payload.wrong) throw new Error('the parcel is lost');
      await tx.sql.query('INSERT INTO shipped (id) VALUES ($1)', [job.payload.order]);
      await this.jobs.enqueue(Mark, { order: job.payload.order }, { runIn: '1h' });
      return done({ outcome: 'order.shipped' });
    });
}

@JobHandler(Sweep)
class SweepHandler {
  run = (job: JobOf<typeof Sweep>) => Promise.resolve(repeat(job.payload.every));
}

@JobHandler(Mark)
class MarkHandler {
  run = async (job: JobOf<typeof Mark>, ctx: AttachedContext) => {
    await ctx.tx.sql.query('INSERT INTO marked (id) VALUES ($1)', [job.payload.order]);
  };
}

@InterceptJobs()
class Tell implements JobInterceptor {
  intercept(call: JobCall, next: () => Promise<JobAnswer>): Promise<JobAnswer> {
    told.push(`around ${call.job.kind}`);
    return next();
  }
}

class Bell {
  @OnJobEvent('job.completed', Pay)
  paid(): void {
    told.push('heard');
  }
}

/** shop answers the module of the application under test, as it is deployed: its runner starts by itself. */
export function shop(database: Database) {
  @Module({
    imports: [QueueModule.forRoot({ database, migrations: 'check', run: { slots: 2 } })],
    providers: [Bell, CurrentOrder, MarkHandler, PayHandler, ShipHandler, SweepHandler, Tell],
  })
  class ShopModule {}
  return ShopModule;
}

export { Runner };

/** tables makes the application's own tables. */
export async function tables(db: TestDatabase): Promise<void> {
  await db.adminQuery(`CREATE TABLE paid (id text PRIMARY KEY, attempt int NOT NULL,
    parent text REFERENCES paid (id) DEFERRABLE INITIALLY DEFERRED)`);
  await db.adminQuery('CREATE TABLE shipped (id text PRIMARY KEY)');
  await db.adminQuery('CREATE TABLE marked (id text PRIMARY KEY)');
}

/** count answers the rows of one of the tables. */
export async function count(db: TestDatabase, table: string): Promise<number> {
  const [row] = await db.adminQuery<{ n: number }>(`SELECT count(*)::int AS n FROM ${table}`);
  return row!.n;
}
