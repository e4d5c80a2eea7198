import { typeOrm } from '@holdfast/kernel/typeorm';
import { QueueModule } from '@holdfast/queue';
import { Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CallLog, CountSaleHandler, ReceiptListener, Restocking, SendReceiptHandler } from './handlers.js';
import { Order } from './order.entity.js';
import { Orders } from './orders.js';

async function openDataSource(): Promise<DataSource> {
  const url = process.env['DATABASE_URL'] ?? '';
  const dataSource = new DataSource({ type: 'postgres', url, entities: [Order], extra: { max: 15 } });
  await dataSource.initialize();
  await dataSource.query('CREATE TABLE orders (id text PRIMARY KEY, receipt text)');
  await dataSource.query('CREATE TABLE shop (id text PRIMARY KEY, sold int NOT NULL, stock int NOT NULL)');
  await dataSource.query("INSERT INTO shop VALUES ('corner', 0, 0)");
  return dataSource;
}

@Global()
@Module({ providers: [{ provide: DataSource, useFactory: openDataSource }], exports: [DataSource] })
class DatabaseModule implements OnApplicationShutdown {
  constructor(private readonly dataSource: DataSource) {}

  onApplicationShutdown(): Promise<void> {
    return this.dataSource.destroy();
  }
}

@Module({
  imports: [
    DatabaseModule,
    QueueModule.forRootAsync({
      inject: [DataSource],
      useFactory: (dataSource: DataSource) => ({ database: typeOrm(dataSource), migrations: 'up' }),
    }),
  ],
  providers: [CallLog, CountSaleHandler, Orders, ReceiptListener, Restocking, SendReceiptHandler],
})
export class AppModule {}
