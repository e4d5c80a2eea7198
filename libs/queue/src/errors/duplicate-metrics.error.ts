import { HoldfastError } from '@holdfast/kernel/pure';

/** DuplicateMetricsError: the registry has a series of this name already, of another queue in this process that has not been closed, or of the application itself. */
export class DuplicateMetricsError extends HoldfastError {
  constructor(readonly series: string) {
    super(
      'queue.duplicate_metrics',
      `The registry has a series ${series} already: give each queue of a process a registry of its own, queueMetrics(queue, { registry: new Registry() }), or close the metrics that are there first.`,
    );
  }
}
