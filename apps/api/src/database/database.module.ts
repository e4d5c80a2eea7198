import { Module, type DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { DataSourceOptions } from 'typeorm';
import type { ApiConfiguration } from '../configuration/api.configuration.js';
import { EventEntity } from './event.entity.js';
import { CreateEvent1764500000000 } from './migrations/1764500000000-create-event.js';
import { openDataSource } from './open-data-source.js';
import { RepositoryStatisticsEntity } from './repository-statistics.entity.js';

/** A database that is still starting gets this many tries, a second apart; then the start fails. */
const CONNECT_ATTEMPTS = 5;

/** DatabaseModule opens the api's DataSource and brings the tables that the api owns up to date. */
@Module({})
export class DatabaseModule {
  static with(configuration: ApiConfiguration): DynamicModule {
    const options: DataSourceOptions = {
      type: 'postgres',
      applicationName: 'holdfast-api',
      entities: [EventEntity, RepositoryStatisticsEntity],
      extra: { max: configuration.poolSize },
      migrations: [CreateEvent1764500000000],
      migrationsTableName: 'api_migration',
      url: configuration.databaseUrl,
    };
    const connection = TypeOrmModule.forRootAsync({
      useFactory: () => ({ ...options, retryAttempts: CONNECT_ATTEMPTS, retryDelay: 1_000 }),
      dataSourceFactory: () => openDataSource(options, configuration.migrations),
    });
    return { module: DatabaseModule, imports: [connection] };
  }
}
