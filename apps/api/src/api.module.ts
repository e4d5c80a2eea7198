import { HttpEdgeModule, HubDatabaseModule, TENANT_SETTING } from '@holdfast/hub';
import { typeOrm } from '@holdfast/kernel/typeorm';
import { QueueModule } from '@holdfast/queue';
import { Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { AccessModule } from './access/access.module.js';
import type { ApiConfiguration } from './configuration/api.configuration.js';
import { EventsModule } from './events/events.module.js';
import { JobsModule } from './jobs/jobs.module.js';
import { ProblemFilter } from './problems/problem.filter.js';
import { StatisticsModule } from './statistics/statistics.module.js';
import { SubscriptionsModule } from './subscriptions/subscriptions.module.js';
import { TenantsModule } from './tenants/tenants.module.js';

/** Requests in flight have this long at a stop. */
const HTTP_DRAIN_MS = 3_000;

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
        tenancy: { setting: TENANT_SETTING },
      }),
    });
    const filter = {
      provide: APP_FILTER,
      inject: [HttpAdapterHost],
      useFactory: (adapterHost: HttpAdapterHost) => new ProblemFilter(adapterHost, configuration.bodyLimitBytes),
    };
    return {
      module: ApiModule,
      imports: [
        HttpEdgeModule.with(HTTP_DRAIN_MS),
        HubDatabaseModule.with({ applicationName: 'holdfast-api', ...configuration }),
        queue,
        AccessModule,
        EventsModule,
        JobsModule,
        StatisticsModule,
        SubscriptionsModule,
        TenantsModule.with(configuration.operatorToken),
      ],
      providers: [filter],
    };
  }
}
