/** The series of a queue for Prometheus, by `prom-client`, which the application brings: `QueueMetricsModule.forRoot()`, or `queueMetrics(queue)` without Nest. */
export { DuplicateMetricsError } from '../errors/duplicate-metrics.error.js';
export { type MetricsSources, QueueMetrics, queueMetrics, type QueueMetricsOptions } from './queue.metrics.js';
export { type MetricsModule, QueueMetricsModule } from './queue-metrics.module.js';
