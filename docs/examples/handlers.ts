import {
  Database,
  done,
  JobCancelledError,
  JobHandler,
  PermanentError,
  refuse,
  repeat,
  RetryableError,
  UnavailableError,
  type AttachedContext,
  type AttachedHandler,
  type BatchContext,
  type BatchHandler,
  type BatchResults,
  type DetachedContext,
  type DetachedHandler,
  type JobOf,
} from '@holdfast/queue';
import { ExportOrders, MeterReading, PackGift, RecordSale, RefundOrder, SendReceipt, SyncContacts } from './jobs.js';

/** Mailer stands for any client of another service. */
export abstract class Mailer {
  abstract send(orderId: string, options: { idempotencyKey: string; signal: AbortSignal }): Promise<string>;
}

@JobHandler(RecordSale)
export class RecordSaleHandler implements AttachedHandler<typeof RecordSale> {
  run = async (job: JobOf<typeof RecordSale>, ctx: AttachedContext) => {
    await ctx.tx.sql.query('UPDATE shop SET sold = sold + 1 WHERE id = $1', [job.payload.shopId]);
  };
}

@JobHandler(SendReceipt, { detached: true })
export class SendReceiptHandler implements DetachedHandler<typeof SendReceipt> {
  constructor(private readonly mailer: Mailer) {}

  async run(job: JobOf<typeof SendReceipt>, ctx: DetachedContext) {
    const messageId = await this.mailer.send(job.payload.orderId, { idempotencyKey: job.id, signal: ctx.signal });
    return ctx.finish(async (tx) => {
      await tx.sql.query('UPDATE orders SET receipt = $2 WHERE id = $1', [job.payload.orderId, messageId]);
      return done({ outcome: 'receipt.sent' });
    });
  }
}

@JobHandler(SyncContacts)
export class SyncContactsHandler implements AttachedHandler<typeof SyncContacts> {
  run = async (job: JobOf<typeof SyncContacts>, ctx: AttachedContext) => {
    const account = await ctx.tx.sql.query<{ paused: boolean }>('SELECT paused FROM account WHERE id = $1', [
      job.payload.accountId,
    ]);
    if (account.rows[0]?.paused) return refuse('contacts.paused');
    await ctx.hold(); // who enqueues this key from here on gets a run of its own
    const moved = await ctx.tx.sql.query('DELETE FROM contact_change WHERE account_id = $1', [job.payload.accountId]);
    return repeat('10m', { counts: { moved: moved.rowCount } });
  };
}

@JobHandler(PackGift, { detached: true })
export class PackGiftHandler implements DetachedHandler<typeof PackGift> {
  constructor(private readonly database: Database) {}

  async run(job: JobOf<typeof PackGift>, ctx: DetachedContext) {
    const open = await this.database.begin();
    try {
      await open.transaction.sql.query('INSERT INTO parcel (order_id) VALUES ($1)', [job.payload.orderId]);
      return await ctx.finish(done(), { in: open });
    } catch (error) {
      await open.rollback();
      throw error;
    }
  }
}

/** check turns an answer of another service into the error that says what to do about it. */
export function check(response: Response): void {
  if (response.ok) return;
  if (response.status === 429) {
    throw new RetryableError('mail.throttled', { after: `${response.headers.get('retry-after') ?? '60'}s` });
  }
  if (response.status === 503) throw new UnavailableError('mail.down');
  if (response.status === 422) throw new PermanentError('mail.address_refused');
  throw new RetryableError('mail.failed');
}

/** Archive stands for a store of files. */
export abstract class Archive {
  abstract append(file: string, page: number, signal: AbortSignal): Promise<'more' | 'end'>;
  abstract remove(file: string): Promise<void>;
}

@JobHandler(ExportOrders, { detached: true })
export class ExportOrdersHandler implements DetachedHandler<typeof ExportOrders> {
  constructor(private readonly archive: Archive) {}

  async run(job: JobOf<typeof ExportOrders>, ctx: DetachedContext) {
    const file = `orders-${job.id}`;
    try {
      for (let page = 1; (await this.archive.append(file, page, ctx.signal)) === 'more'; page++)
        ctx.signal.throwIfAborted();
    } catch (error) {
      if (ctx.signal.reason instanceof JobCancelledError) await this.archive.remove(file);
      throw error;
    }
    return done({ outcome: 'export.ready' });
  }
}

@JobHandler(MeterReading, { batch: { size: 100 } })
export class MeterReadingHandler implements BatchHandler<typeof MeterReading> {
  async runBatch(jobs: readonly JobOf<typeof MeterReading>[], ctx: BatchContext): Promise<BatchResults> {
    const known = jobs.filter(({ payload }) => payload.kwh >= 0);
    await ctx.tx.sql.query('INSERT INTO reading (meter, kwh) SELECT * FROM unnest($1::text[], $2::numeric[])', [
      known.map(({ payload }) => payload.meter),
      known.map(({ payload }) => payload.kwh),
    ]);
    return jobs.map(({ payload }) => (payload.kwh >= 0 ? done() : refuse('reading.negative')));
  }
}

@JobHandler(RefundOrder)
export class RefundOrderHandler implements AttachedHandler<typeof RefundOrder> {
  run = async ({ payload: ended }: JobOf<typeof RefundOrder>, ctx: AttachedContext) => {
    const { orderId } = ended.payload;
    await ctx.tx.sql.query('UPDATE orders SET refund = $2 WHERE id = $1', [orderId, ended.code ?? 'cancelled']);
  };
}
