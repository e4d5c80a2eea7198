import { typeOrm } from '@holdfast/kernel/typeorm';
import { QueueModule } from '@holdfast/queue';
import { QueueMetricsModule } from '@holdfast/queue/metrics';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { SendReceipt } from './jobs.js';

@Module({
  imports: [
    QueueModule.forRootAsync({
      inject: [DataSource],
      useFactory: (dataSource: DataSource) => ({ database: typeOrm(dataSource) }),
    }),
    QueueMetricsModule.forRoot({ produces: [SendReceipt] }),
  ],
})
export class MeasuredModule {}
