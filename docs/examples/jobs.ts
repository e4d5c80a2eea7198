import { defineJob, type, type EndedJob } from '@holdfast/queue/define';
import { z } from 'zod';

export const SendReceipt = defineJob('receipt.send', {
  payload: z.object({ orderId: z.string() }),
  maxAttempts: 8,
  timeout: '30s',
  backoff: { delays: ['10s', '1m', '10m', '1h', '3h', '6h', '24h'] },
});

export const RecordSale = defineJob('sale.record', {
  payload: z.object({ shopId: z.string(), cents: z.int() }),
});

export const RebuildIndex = defineJob('index.rebuild', {
  payload: z.object({ customerId: z.string() }),
  whenRunning: 'rerun',
});

export const SyncContacts = defineJob('contacts.sync', {
  payload: z.object({ accountId: z.string() }),
  maxAttempts: 'unlimited',
});

export const PackGift = defineJob('gift.pack', { payload: type<{ orderId: string }>() });

export const CountVisit = defineJob('visit.count', {
  payload: type<{ page: string }>(),
  groupCommit: { size: 32, delay: '5ms' },
});

export const ExportOrders = defineJob('orders.export', {
  payload: z.object({ customerId: z.string() }),
  timeout: '2h',
});

export const MeterReading = defineJob('meter.reading', {
  payload: z.object({ meter: z.string(), kwh: z.number() }),
});

export const RefundOrder = defineJob('order.refund', { payload: type<EndedJob>() });

export const ChargeOrder = defineJob('order.charge', {
  payload: z.object({ orderId: z.string() }),
  onEnd: { deadLetter: RefundOrder, cancelled: RefundOrder },
});
