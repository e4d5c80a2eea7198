import { fromDrizzle } from '@holdfast/kernel/drizzle';
import { fromKnex } from '@holdfast/kernel/knex';
import { fromKysely } from '@holdfast/kernel/kysely';
import { fromMikroOrm } from '@holdfast/kernel/mikro-orm';
import { fromPrisma } from '@holdfast/kernel/prisma';
import type { JobQueue } from '@holdfast/queue';
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql as drizzleSql } from 'drizzle-orm';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { Knex } from 'knex';
import type { Kysely } from 'kysely';
import { SendReceipt } from './jobs.js';
import type { PrismaClient } from './prisma.js';

interface Tables {
  orders: { id: string };
}

export async function withKnex(knex: Knex, jobs: JobQueue, orderId: string): Promise<void> {
  await knex.transaction(async (trx) => {
    await trx('orders').insert({ id: orderId });
    await jobs.enqueue(SendReceipt, { orderId }, { in: fromKnex(trx) });
  });
}

export async function withKysely(kysely: Kysely<Tables>, jobs: JobQueue, orderId: string): Promise<void> {
  await kysely.transaction().execute(async (trx) => {
    await trx.insertInto('orders').values({ id: orderId }).execute();
    await jobs.enqueue(SendReceipt, { orderId }, { in: fromKysely(trx) });
  });
}

export async function withDrizzle(db: NodePgDatabase, jobs: JobQueue, orderId: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.execute(drizzleSql`INSERT INTO orders (id) VALUES (${orderId})`);
    await jobs.enqueue(SendReceipt, { orderId }, { in: fromDrizzle(tx) });
  });
}

export async function withMikroOrm(em: EntityManager, jobs: JobQueue, orderId: string): Promise<void> {
  await em.transactional(async (manager) => {
    await manager.insert('Order', { id: orderId });
    await jobs.enqueue(SendReceipt, { orderId }, { in: fromMikroOrm(manager) });
  });
}

export async function withPrisma(prisma: PrismaClient, jobs: JobQueue, orderId: string): Promise<void> {
  await prisma.$transaction(async (tx) => {
    await tx.$executeRaw`INSERT INTO orders (id) VALUES (${orderId})`;
    await jobs.enqueue(SendReceipt, { orderId }, { in: fromPrisma(tx) });
  });
}
