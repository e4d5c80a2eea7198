import { typeOrm } from '@holdfast/kernel/typeorm';
import { QueueModule } from '@holdfast/queue';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { RecordSaleHandler } from './handlers.js';
import { Order } from './order.entity.js';
import { Orders } from './orders.service.js';

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'postgres', url: process.env.DATABASE_URL, entities: [Order], extra: { max: 15 } }),
    TypeOrmModule.forFeature([Order]),
    QueueModule.forRootAsync({
      inject: [DataSource],
      useFactory: (dataSource: DataSource) => ({ database: typeOrm(dataSource), migrations: 'up' }),
    }),
  ],
  providers: [Orders, RecordSaleHandler],
})
export class AppModule {}

export async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule);
  app.enableShutdownHooks();
  await app.listen(3000);
}
