import { JobQueue, UnitOfWork } from '@holdfast/queue';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { DataSource, type EntityManager, type Repository } from 'typeorm';
import type { Transaction } from '@holdfast/kernel';
import { PackGift, RebuildIndex, SendReceipt } from './jobs.js';
import { Order } from './order.entity.js';

@Injectable()
export class Orders {
  private readonly cache = new Map<string, Order>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: JobQueue,
    private readonly unitOfWork: UnitOfWork,
    @InjectRepository(Order) private readonly orders: Repository<Order>,
  ) {}

  async placeOrder(order: Order): Promise<string> {
    return this.unitOfWork.run(async (tx) => {
      await tx.manager.save(order);
      const { id } = await this.jobs.enqueue(SendReceipt, { orderId: order.id });
      return id;
    });
  }

  async importOrder(order: Order): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await manager.save(order);
      await this.jobs.enqueue(SendReceipt, { orderId: order.id }, { in: manager });
    });
  }

  async placeWithGift(order: Order): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      await tx.manager.save(order);
      await tx.manager
        .transaction(async (inner) => {
          await this.jobs.enqueue(PackGift, { orderId: order.id }, { in: inner });
          await inner.query('INSERT INTO gift (order_id) VALUES ($1)', [order.id]);
        })
        .catch(() => undefined); // no gift: its rows and its job are gone, the order stays
    });
  }

  async remind(orderId: string): Promise<void> {
    await this.jobs.enqueue(SendReceipt, { orderId }, { in: 'own', runIn: '1h', priority: 7 });
  }

  async moveStock(): Promise<void> {
    await this.unitOfWork.run((tx) => this.rebalance(tx), { isolation: 'SERIALIZABLE' });
  }

  async change(order: Order): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      await tx.manager.save(order);
      tx.afterCommit(() => void this.cache.delete(order.id));
    });
  }

  async changeCustomer(customerId: string): Promise<void> {
    await this.unitOfWork.run(async () => {
      await this.jobs.enqueue(RebuildIndex, { customerId }, { dedupeKey: customerId });
    });
  }

  async placeFor(tenantId: string, order: Order): Promise<void> {
    await this.unitOfWork.run(
      async (tx) => {
        await tx.manager.save(order);
        await this.jobs.enqueue(SendReceipt, { orderId: order.id }); // a job of this tenant
      },
      { tenantId },
    );
  }

  async insideAndOutside(tx: Transaction & { manager: EntityManager }, order: Order): Promise<void> {
    await tx.manager.getRepository(Order).save(order); // inside
    await this.orders.save(order); // outside: commits by itself, stays when this transaction rolls back
  }

  private async rebalance(tx: Transaction): Promise<void> {
    await tx.sql.query('UPDATE stock SET amount = amount - 1 WHERE amount > 0');
  }
}
