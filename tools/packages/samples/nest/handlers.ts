import {
  done,
  JobHandler,
  type AttachedContext,
  type AttachedHandler,
  type DetachedContext,
  type DetachedHandler,
  type JobOf,
} from '@holdfast/queue';
import { CountSale, SendReceipt } from './jobs.js';
import { Order } from './order.entity.js';

@JobHandler(CountSale)
export class CountSaleHandler implements AttachedHandler<typeof CountSale> {
  async run(job: JobOf<typeof CountSale>, ctx: AttachedContext): Promise<void> {
    await ctx.tx.sql.query('UPDATE shop SET sold = sold + 1 WHERE id = $1', [job.payload.shopId]);
  }
}

@JobHandler(SendReceipt, { detached: true })
export class SendReceiptHandler implements DetachedHandler<typeof SendReceipt> {
  async run(job: JobOf<typeof SendReceipt>, ctx: DetachedContext) {
    const { orderId } = job.payload;
    return ctx.finish(async (tx) => {
      await tx.manager.update(Order, { id: orderId }, { receipt: `receipt of ${orderId}` });
      return done({ outcome: 'receipt.sent' });
    });
  }
}
