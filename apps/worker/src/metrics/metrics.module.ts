import { QueueMetricsModule } from '@holdfast/queue/metrics';
import { Module, type DynamicModule } from '@nestjs/common';
import { Registry } from 'prom-client';
import { MetricsController } from './metrics.controller.js';

/** MetricsModule serves `/metrics`, from a registry of its own: nothing of it is on the process. */
@Module({})
export class MetricsModule {
  static create(): DynamicModule {
    return {
      module: MetricsModule,
      controllers: [MetricsController],
      imports: [QueueMetricsModule.forRoot({ registry: new Registry() })],
    };
  }
}
