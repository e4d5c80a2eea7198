import { QueueMetrics } from '@holdfast/queue/metrics';
import { Controller, Get, Res } from '@nestjs/common';

/** MetricsController answers Prometheus: the series of the queue, which hold names of kinds and numbers (M1). */
@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: QueueMetrics) {}

  @Get()
  async scrape(
    @Res({ passthrough: true }) response: { header(name: string, value: string): unknown },
  ): Promise<string> {
    const { registry } = this.metrics;
    response.header('Content-Type', registry.contentType);
    return registry.metrics();
  }
}
