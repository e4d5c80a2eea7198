import type { HoldfastQueue } from '@holdfast/queue/core';
import { type QueueMetrics, queueMetrics } from '@holdfast/queue/metrics';
import { Registry } from 'prom-client';
import { SendReceipt } from './jobs.js';

export async function startMeasured(queue: HoldfastQueue): Promise<QueueMetrics> {
  const registry = new Registry();
  const metrics = queueMetrics(queue, { produces: [SendReceipt], registry });
  await queue.start();
  return metrics;
}
