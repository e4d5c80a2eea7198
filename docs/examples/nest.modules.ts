import { typeOrm } from '@holdfast/kernel/typeorm';
import { QueueModule, type QueueOptions, type QueueRole } from '@holdfast/queue';
import { type DynamicModule, Injectable, Module } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { RecordSaleHandler, SyncContactsHandler } from './handlers.js';
import { SyncContacts } from './jobs.js';
import { Order } from './order.entity.js';
import { Orders } from './orders.service.js';

/** CoreModule is what both deployments share: the database, and the queue with the roles of the process. */
@Module({})
export class CoreModule {
  static with(roles: QueueRole[]): DynamicModule {
    return {
      module: CoreModule,
      imports: [
        ConfigModule.forRoot({ isGlobal: true }),
        TypeOrmModule.forRoot({
          type: 'postgres',
          url: process.env.DATABASE_URL,
          entities: [Order],
          extra: { max: 15 },
        }),
        QueueModule.forRootAsync({
          roles,
          inject: [DataSource, ConfigService],
          useFactory: (dataSource: DataSource, config: ConfigService): QueueOptions => ({
            database: typeOrm(dataSource),
            kinds: { 'receipt.send': { concurrency: numberOf(config, 'RECEIPTS_AT_ONCE') } },
            run: {
              grace: config.get<string>('GRACE'),
              only: config.get<string>('ONLY_KINDS')?.split(','),
              slots: numberOf(config, 'SLOTS'),
            },
          }),
        }),
      ],
    };
  }
}

/** A variable is a text; where it is not set, the option's default stands. */
function numberOf(config: ConfigService, name: string): number | undefined {
  const text = config.get<string>(name);
  return text === undefined ? undefined : Number(text);
}

@Module({ imports: [CoreModule.with(['enqueue']), TypeOrmModule.forFeature([Order])], providers: [Orders] })
export class ApiModule {}

@Module({ imports: [CoreModule.with(['run', 'schedule'])], providers: [RecordSaleHandler, SyncContactsHandler] })
export class WorkerModule {}

export async function serve(): Promise<void> {
  const app = await NestFactory.create(ApiModule);
  app.enableShutdownHooks(undefined, { useProcessExit: true });
  await app.listen(3000);
}

/** QueueSettings makes the options, for `useClass`, or for `useExisting` where a module of yours provides it. */
@Injectable()
export class QueueSettings {
  constructor(private readonly dataSource: DataSource) {}

  createQueueOptions(): QueueOptions {
    return { database: typeOrm(this.dataSource), migrations: 'check' };
  }
}

@Module({ imports: [QueueModule.forRootAsync({ useClass: QueueSettings })] })
export class SettledModule {}

/** Pollers exist from the first start on, once for all replicas: the handler of SyncContacts ends each run with `repeat('10m')`. */
@Module({
  imports: [
    QueueModule.forRootAsync({
      inject: [DataSource],
      useFactory: (dataSource: DataSource) => ({
        database: typeOrm(dataSource),
        ensure: [
          SyncContacts.request({ accountId: 'main' }, { dedupeKey: 'main' }),
          SyncContacts.request({ accountId: 'spare' }, { dedupeKey: 'spare', runIn: '5m' }),
        ],
      }),
    }),
  ],
  providers: [SyncContactsHandler],
})
export class PollingModule {}
