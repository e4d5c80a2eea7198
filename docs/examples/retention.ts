import { typeOrm } from '@holdfast/kernel/typeorm';
import { QueueModule } from '@holdfast/queue';
import { defineJob, type } from '@holdfast/queue/define';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';

export const ChargeCard = defineJob('card.charge', {
  payload: type<{ orderId: string }>(),
  retention: { succeeded: '90d', deadLetter: 'forever' },
});

@Module({
  imports: [
    QueueModule.forRootAsync({
      inject: [DataSource],
      useFactory: (dataSource: DataSource) => ({
        database: typeOrm(dataSource),
        retention: { succeeded: '1h', failed: '30d' },
      }),
    }),
  ],
})
export class ShortMemoryModule {}
