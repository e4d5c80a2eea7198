import { typeOrm } from '@holdfast/kernel/typeorm';
import { QueueModule } from '@holdfast/queue';
import { Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost } from '@nestjs/core';
import { DataSource } from 'typeorm';
import type { ApiConfiguration } from './configuration/api.configuration.js';
import { DatabaseModule } from './database/database.module.js';
import { EventsModule } from './events/events.module.js';
import { HealthController } from './health/health.controller.js';
import { HttpDrain } from './http.drain.js';
import { JobsModule } from './jobs/jobs.module.js';
import { ProblemFilter } from './problems/problem.filter.js';
import { StatisticsModule } from './statistics/statistics.module.js';

/** ApiModule is the HTTP edge: it accepts events, enqueues, and answers for jobs. It runs none. */
@Module({})
export class ApiModule {
  static with(configuration: ApiConfiguration): DynamicModule {
    const queue = QueueModule.forRootAsync({
      roles: ['enqueue'],
      inject: [DataSource],
      useFactory: (dataSource: DataSource) => ({
        database: typeOrm(dataSource),
        migrations: configuration.migrations,
        schema: configuration.schema,
      }),
    });
    const filter = {
      provide: APP_FILTER,
      inject: [HttpAdapterHost],
      useFactory: (adapterHost: HttpAdapterHost) => new ProblemFilter(adapterHost, configuration.bodyLimitBytes),
    };
    return {
      module: ApiModule,
      controllers: [HealthController],
      imports: [
        DatabaseModule.with(configuration),
        queue,
        EventsModule.with(configuration),
        JobsModule,
        StatisticsModule,
      ],
      providers: [filter, HttpDrain],
    };
  }
}
