import { JobQueue, UnitOfWork } from '@holdfast/queue';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CountSale, SendReceipt } from './jobs.js';
import { Order } from './order.entity.js';

@Injectable()
export class Orders {
  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: JobQueue,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** place writes an order and its receipt's job in a unit of work of Holdfast. */
  place(id: string): Promise<string> {
    return this.unitOfWork.run(async (tx) => {
      await tx.manager.save(Object.assign(new Order(), { id, receipt: null }));
      const { id: jobId } = await this.jobs.enqueue(SendReceipt, { orderId: id });
      return jobId;
    });
  }

  /** sell enqueues in a transaction of TypeORM's own; one that is rolled back leaves no job. */
  async sell(shopId: string): Promise<string> {
    const lost = this.dataSource.transaction(async (manager) => {
      await this.jobs.enqueue(CountSale, { shopId }, { in: manager });
      throw new Error('rolled back');
    });
    await lost.catch(() => undefined);
    return this.dataSource.transaction(async (manager) => {
      const { id } = await this.jobs.enqueue(CountSale, { shopId }, { in: manager });
      return id;
    });
  }
}
