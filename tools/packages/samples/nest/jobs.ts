import { defineJob, type } from '@holdfast/queue/define';

export const CountSale = defineJob('sale.count', { payload: type<{ shopId: string }>() });

export const SendReceipt = defineJob('receipt.send', { payload: type<{ orderId: string }>(), timeout: '10s' });
