import { nestjsCls } from '@holdfast/kernel/nestjs-cls';
import { typeOrm } from '@holdfast/kernel/typeorm';
import { typeormTransactional } from '@holdfast/kernel/typeorm-transactional';
import { JobQueue, QueueModule } from '@holdfast/queue';
import { Transactional, TransactionHost } from '@nestjs-cls/transactional';
import { TransactionalAdapterTypeOrm } from '@nestjs-cls/transactional-adapter-typeorm';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { SendReceipt } from './jobs.js';
import { Order } from './order.entity.js';

export const withNestjsCls = QueueModule.forRootAsync({
  inject: [DataSource, TransactionHost],
  roles: ['enqueue'],
  useFactory: (dataSource: DataSource, txHost: TransactionHost<TransactionalAdapterTypeOrm>) => ({
    database: typeOrm(dataSource),
    transactionHost: nestjsCls(txHost),
  }),
});

export const withTypeormTransactional = QueueModule.forRootAsync({
  inject: [DataSource],
  roles: ['enqueue'],
  useFactory: (dataSource: DataSource) => ({
    database: typeOrm(dataSource),
    transactionHost: typeormTransactional(dataSource),
  }),
});

@Injectable()
export class HostedOrders {
  constructor(
    private readonly jobs: JobQueue,
    private readonly txHost: TransactionHost<TransactionalAdapterTypeOrm>,
  ) {}

  @Transactional()
  async place(order: Order): Promise<void> {
    await this.txHost.tx.save(order);
    await this.jobs.enqueue(SendReceipt, { orderId: order.id });
  }
}
