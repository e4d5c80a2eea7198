import 'reflect-metadata';
import { pgPool } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Registry } from 'prom-client';
import {
  JobHandler,
  JobQueue,
  QueueModule,
  type QueueRole,
  Runner,
  UnitOfWork,
  defineJob,
  type,
} from '../../src/index.js';
import { QueueMetrics, QueueMetricsModule } from '../../src/metrics/index.js';
import { untilValue, valueOf } from './metrics.stand.js';

const Ping = defineJob('metrics.ping', { payload: type<object>() });
const kind = 'metrics.ping';

@JobHandler(Ping)
class PingHandler {
  run(): Promise<void> {
    return Promise.resolve();
  }
}

describe('QueueMetricsModule', () => {
  let db: TestDatabase;
  const apps: INestApplicationContext[] = [];

  beforeAll(async () => (db = await createTestDatabase()));
  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
  });
  afterAll(() => db.drop());

  const start = async (roles: QueueRole[], registry: Registry) => {
    const queue = QueueModule.forRoot({ database: pgPool(db.pool({ max: 20 })), roles, run: { poll: '50ms' } });
    const metrics = QueueMetricsModule.forRoot({ produces: [Ping], registry });
    const module = Test.createTestingModule({ imports: [metrics, queue], providers: [PingHandler] });
    const app = await (await module.compile()).init();
    apps.push(app);
    return app;
  };

  it('M1: counts what an application enqueues and runs, in any order of imports, and exports QueueMetrics', async () => {
    const registry = new Registry();
    const app = await start(['run', 'schedule'], registry);
    expect(app.get(QueueMetrics).registry).toBe(registry);
    expect(await valueOf(registry, 'jobs_finished_total', { kind, result: 'succeeded' })).toBe(0);
    await app.get(UnitOfWork).run(() => app.get(JobQueue).enqueue(Ping, {}));
    app.get(Runner).wake();
    await untilValue(registry, 'jobs_finished_total', { kind, result: 'succeeded' }, 1);
    expect(await valueOf(registry, 'jobs_enqueued_total', { disposition: 'created', kind })).toBe(1);
  });

  it('M1: a process that only enqueues has the counter of that, and two applications live in one process', async () => {
    const [first, second] = [new Registry(), new Registry()];
    const app = await start(['enqueue'], first);
    await start(['enqueue'], second);
    await app.get(JobQueue).enqueue(Ping, {}, { in: 'own' });
    expect(await valueOf(first, 'jobs_enqueued_total', { disposition: 'created', kind })).toBe(1);
    expect(await valueOf(second, 'jobs_enqueued_total', { disposition: 'created', kind })).toBe(0);
    expect(first.getSingleMetric('holdfast_queue_depth')).toBeUndefined();
  });

  it('M1: after the end of an application its registry is free for the next', async () => {
    const registry = new Registry();
    const app = await start(['enqueue'], registry);
    await app.close();
    expect(await registry.getMetricsAsJSON()).toEqual([]);
    await start(['enqueue'], registry);
  });
});
