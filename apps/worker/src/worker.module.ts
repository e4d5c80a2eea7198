import { HttpEdgeModule, HubDatabaseModule, TENANT_SETTING } from '@holdfast/hub';
import { typeOrm } from '@holdfast/kernel/typeorm';
import { QueueModule } from '@holdfast/queue';
import { Module, type DynamicModule } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { WorkerConfiguration } from './configuration/worker.configuration.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { RetentionSweepHandler } from './retention/retention-sweep.handler.js';
import { EventRecordHandler } from './statistics/event-record.handler.js';
import { WebhookModule } from './webhook/webhook.module.js';

/** A probe in flight has this long once the jobs have ended. */
const HTTP_DRAIN_MS = 1_000;

/** WorkerModule is what runs: the runner with its handlers, the scheduler, of whose duties one worker at a time takes care, and the health endpoints and the metrics. */
@Module({})
export class WorkerModule {
  static with(configuration: WorkerConfiguration): DynamicModule {
    const { databaseUrl, graceMs, leaseMs, migrations, pollMs, poolSize, schema, slots } = configuration;
    // The same proportions as the library's defaults: 60 s, 15 s, 5 s.
    const leases = { attachedMarginMs: leaseMs / 4, boundMarginMs: leaseMs / 12, detachedMs: leaseMs };
    const queue = QueueModule.forRootAsync({
      roles: ['run', 'schedule'],
      inject: [DataSource],
      useFactory: (dataSource: DataSource) => ({
        database: typeOrm(dataSource),
        migrations,
        run: { graceMs, leases, pollMs, slots },
        schema,
        tenancy: { setting: TENANT_SETTING },
      }),
    });
    return {
      module: WorkerModule,
      imports: [
        HttpEdgeModule.with(HTTP_DRAIN_MS),
        HubDatabaseModule.with({ applicationName: 'holdfast-worker', databaseUrl, migrations, poolSize }),
        MetricsModule.create(),
        queue,
        WebhookModule.with(configuration),
      ],
      providers: [EventRecordHandler, RetentionSweepHandler],
    };
  }
}
