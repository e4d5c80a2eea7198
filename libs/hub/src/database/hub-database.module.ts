import { isConnectionLost } from '@holdfast/kernel';
import { Module, type DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { DataSourceOptions } from 'typeorm';
import { DatabaseUnreachableError } from './database-unreachable.error.js';
import { HUB_ENTITIES, HUB_MIGRATIONS } from './hub.schema.js';
import { openDataSource } from './open-data-source.js';

/** HubDatabaseOptions say how an app uses the hub's database. */
export interface HubDatabaseOptions {
  /** applicationName is what `pg_stat_activity` shows. */
  readonly applicationName: string;
  readonly databaseUrl: string;
  /** migrations: `up` applies what is missing at start, `check` refuses to start when something is. */
  readonly migrations: 'up' | 'check';
  /** poolSize is the most connections of the app's own pool. */
  readonly poolSize: number;
}

/** A database that is still starting gets this many tries, a second apart; then the start fails. */
const CONNECT_ATTEMPTS = 5;

/** HubDatabaseModule opens an app's DataSource, with all entities of the hub, and brings the hub's tables up to date. */
@Module({})
export class HubDatabaseModule {
  static with({ applicationName, databaseUrl, migrations, poolSize }: HubDatabaseOptions): DynamicModule {
    const options: DataSourceOptions = {
      type: 'postgres',
      applicationName,
      entities: HUB_ENTITIES,
      extra: { max: poolSize },
      migrations: HUB_MIGRATIONS,
      migrationsTableName: 'hub_migration',
      url: databaseUrl,
    };
    const connection = TypeOrmModule.forRootAsync({
      useFactory: () => ({ ...options, retryAttempts: CONNECT_ATTEMPTS, retryDelay: 1_000, toRetry: mayBeStarting }),
      dataSourceFactory: () => openDataSource(options, migrations),
    });
    return { module: HubDatabaseModule, imports: [connection] };
  }
}

/** A role that bypasses row level security, or tables that are missing, are no better a second later. */
function mayBeStarting(error: unknown): boolean {
  return error instanceof DatabaseUnreachableError || isConnectionLost(error);
}
