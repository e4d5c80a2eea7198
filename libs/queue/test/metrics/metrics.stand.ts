import type { Registry } from 'prom-client';
import { waitFor } from '@holdfast/testing';

/** valueOf answers the value of one series, or undefined; of a histogram its count. */
export async function valueOf(
  registry: Registry,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number | undefined> {
  const metric = registry.getSingleMetric(`holdfast_${name}`);
  if (!metric) return undefined;
  const { values } = (await metric.get()) as {
    values: { labels: Record<string, string | number>; metricName?: string; value: number }[];
  };
  const wanted = Object.entries(labels);
  return values.find(
    ({ labels: found, metricName = '_count' }) =>
      metricName.endsWith('_count') && wanted.every(([label, text]) => found[label] === text),
  )?.value;
}

/** untilValue waits until a series has a value. */
export async function untilValue(
  registry: Registry,
  name: string,
  labels: Readonly<Record<string, string>>,
  value: number,
): Promise<void> {
  await waitFor(async () => (await valueOf(registry, name, labels)) === value, {
    what: `${name} ${JSON.stringify(labels)} to be ${value}`,
  });
}
