import { Module, type DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { DataSourceOptions } from 'typeorm';
import type { WorkerConfiguration } from '../configuration/worker.configuration.js';
import { DeliveryEntity } from './delivery.entity.js';
import { CreateStatisticsAndDelivery1764500000001 } from './migrations/1764500000001-create-statistics-and-delivery.js';
import { openDataSource } from './open-data-source.js';
import { StoredEventEntity } from './stored-event.entity.js';

/** A database that is still starting gets this many tries, a second apart; then the start fails. */
const CONNECT_ATTEMPTS = 5;

/** DatabaseModule opens the worker's DataSource and brings the tables that the worker owns up to date. */
@Module({})
export class DatabaseModule {
  static with(configuration: WorkerConfiguration): DynamicModule {
    const options: DataSourceOptions = {
      type: 'postgres',
      applicationName: 'holdfast-worker',
      entities: [DeliveryEntity, StoredEventEntity],
      extra: { max: configuration.poolSize },
      migrations: [CreateStatisticsAndDelivery1764500000001],
      migrationsTableName: 'worker_migration',
      url: configuration.databaseUrl,
    };
    const connection = TypeOrmModule.forRootAsync({
      useFactory: () => ({ ...options, retryAttempts: CONNECT_ATTEMPTS, retryDelay: 1_000 }),
      dataSourceFactory: () => openDataSource(options, configuration.migrations),
    });
    return { module: DatabaseModule, imports: [connection] };
  }
}
