import { UnitOfWork } from '@holdfast/kernel';
import { typeOrm } from '@holdfast/kernel/typeorm';
import {
  JobHandler,
  JobQueue,
  Jobs,
  QueueModule,
  type AttachedContext,
  type AttachedHandler,
  type DetachedContext,
  type DetachedHandler,
  type JobOf,
  type JobStatus,
} from '@holdfast/queue';
import { Injectable, Module } from '@nestjs/common';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { Mailer } from './handlers.js';
import { RecordSale, SendReceipt } from './jobs.js';
import { Order } from './order.entity.js';

@Module({
  imports: [
    QueueModule.forRootAsync({
      inject: [DataSource],
      useFactory: (dataSource: DataSource) => ({
        database: typeOrm(dataSource),
        tenancy: { setting: 'app.tenant_id' },
      }),
    }),
  ],
})
export class TenantsModule {}

export class ProtectOrders1700000000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE orders ENABLE ROW LEVEL SECURITY');
    await queryRunner.query('ALTER TABLE orders FORCE ROW LEVEL SECURITY');
    await queryRunner.query(`
      CREATE POLICY tenant_scope ON orders
        USING (tenant_id = current_setting('app.tenant_id', true))
        WITH CHECK (tenant_id = current_setting('app.tenant_id', true))`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP POLICY tenant_scope ON orders');
    await queryRunner.query('ALTER TABLE orders DISABLE ROW LEVEL SECURITY');
  }
}

@Injectable()
export class TenantOrders {
  constructor(
    private readonly allJobs: Jobs,
    private readonly jobs: JobQueue,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async place(tenantId: string, order: Order): Promise<void> {
    await this.unitOfWork.run(
      async (tx) => {
        await tx.manager.save(order);
        await this.jobs.enqueue(SendReceipt, { orderId: order.id }); // a job of this tenant
      },
      { tenantId },
    );
  }

  async list(tenantId: string): Promise<Order[]> {
    return this.unitOfWork.run((tx) => tx.manager.find(Order), { readOnly: true, tenantId });
  }

  async job(tenantId: string, id: string): Promise<JobStatus | undefined> {
    const job = await this.allJobs.find(id);
    return job?.tenantId === tenantId ? job : undefined;
  }
}

@JobHandler(RecordSale)
export class TenantSaleHandler implements AttachedHandler<typeof RecordSale> {
  run = async (job: JobOf<typeof RecordSale>, ctx: AttachedContext) => {
    await ctx.tx.sql.query('UPDATE shop SET sold = sold + 1'); // the shops of job.tenantId, whatever the WHERE clause forgot
  };
}

@JobHandler(SendReceipt, { detached: true })
export class TenantReceiptHandler implements DetachedHandler<typeof SendReceipt> {
  constructor(
    private readonly mailer: Mailer,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async run(job: JobOf<typeof SendReceipt>, ctx: DetachedContext) {
    const order = await this.unitOfWork.run((tx) => tx.manager.findOneByOrFail(Order, { id: job.payload.orderId }), {
      readOnly: true,
      tenantId: job.tenantId,
    });
    await this.mailer.send(order.id, { idempotencyKey: job.id, signal: ctx.signal });
  }
}

export async function requirePlainRole(dataSource: DataSource): Promise<void> {
  const bypassing = await dataSource.query<unknown[]>(
    'SELECT FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)',
  );
  if (bypassing.length > 0) throw new Error('The role of DATABASE_URL bypasses row level security.');
}
