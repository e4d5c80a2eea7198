import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { DuplicateMetricsError } from '../errors/duplicate-metrics.error.js';

const PREFIX = 'holdfast_';

/** SeriesFactory makes the series of one queue in a registry, and takes them out again. */
export class SeriesFactory {
  private readonly names: string[] = [];

  constructor(private readonly registry: Registry) {}

  /** close takes its series out of the registry: whoever holds one still counts, and nobody sees it. */
  close(): void {
    for (const name of this.names.splice(0)) this.registry.removeSingleMetric(name);
  }

  counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return this.made(name, (full) => new Counter({ help, labelNames, name: full, registers: [this.registry] }));
  }

  /** `collect` is asked at each scrape, where the value is to be read then. */
  gauge<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    collect?: (gauge: Gauge<L>) => void,
  ): Gauge<L> {
    return this.made(name, (full): Gauge<L> => {
      const gauge: Gauge<L> = new Gauge<L>({
        ...(collect && { collect: () => collect(gauge) }),
        help,
        labelNames,
        name: full,
        registers: [this.registry],
      });
      return gauge;
    });
  }

  histogram<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    buckets: readonly number[],
  ): Histogram<L> {
    const registers = [this.registry];
    return this.made(name, (full) => new Histogram({ buckets: [...buckets], help, labelNames, name: full, registers }));
  }

  /** What was made before a name that is taken goes again: a failed start leaves nothing in a registry that outlives it. */
  private made<T>(name: string, make: (full: string) => T): T {
    const full = `${PREFIX}${name}`;
    if (this.registry.getSingleMetric(full)) {
      this.close();
      throw new DuplicateMetricsError(full);
    }
    const series = make(full);
    this.names.push(full);
    return series;
  }
}
