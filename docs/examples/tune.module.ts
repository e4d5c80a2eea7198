import { typeOrm } from '@holdfast/kernel/typeorm';
import { QueueModule } from '@holdfast/queue';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';

@Module({
  imports: [
    QueueModule.forRootAsync({
      roles: ['run'],
      inject: [DataSource],
      useFactory: (dataSource: DataSource) => ({
        database: typeOrm(dataSource),
        kinds: { 'receipt.send': { concurrency: 4, timeout: '1m' } },
        run: { slots: 20, poll: '1s', grace: '50s', except: ['contacts.sync'] },
        tenancy: { setting: 'app.tenant_id' },
      }),
    }),
  ],
})
export class WorkerModule {}
