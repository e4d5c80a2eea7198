import 'reflect-metadata';
import { pgPool } from '@holdfast/kernel';
import {
  Injectable,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { Pool } from 'pg';
import { register } from 'prom-client';
import {
  defineJob,
  type DetachedContext,
  type DetachedHandler,
  JobHandler,
  type JobOf,
  QueueModule,
  runWorker,
  type,
} from '../../src/index.js';
import { QueueMetricsModule } from '../../src/metrics/index.js';

/** A worker without HTTP of its own, as an application writes it; its parent tells it when to go on. */
export const Wait = defineJob('worker.wait', { payload: type<object>() });

const pool = new Pool({ connectionString: process.env['DATABASE_URL'], max: 3 });
const tell = (event: string, more: object = {}) => process.send?.({ event, ...more });
const told = (word: string) =>
  new Promise<void>((resolve) => {
    const listener = (message: unknown) => {
      if ((message as { word?: string }).word !== word) return;
      process.off('message', listener);
      resolve();
    };
    process.on('message', listener);
  });

@JobHandler(Wait, { detached: true })
class WaitHandler implements DetachedHandler<typeof Wait> {
  async run(_job: JobOf<typeof Wait>, _ctx: DetachedContext): Promise<void> {
    tell('running');
    await told('finish');
  }
}

@Injectable()
class Database implements OnApplicationShutdown {
  async onApplicationShutdown(signal?: string): Promise<void> {
    tell('hooks', { signal });
    await pool.end();
  }
}

/** The start waits in the phase that its parent names, until it is told to go on. */
async function waitIn(phase: string): Promise<void> {
  if (process.env['SLOW'] !== phase) return;
  tell('starting');
  await told('start');
}

const slow = { provide: 'slow', useFactory: () => waitIn('factory') };

@Injectable()
class SlowHooks implements OnApplicationBootstrap, OnModuleInit {
  onApplicationBootstrap(): Promise<void> {
    return waitIn('bootstrap');
  }

  onModuleInit(): Promise<void> {
    return waitIn('init');
  }
}

@Module({
  imports: [
    QueueModule.forRoot({
      database: pgPool(pool),
      ensure: process.env['SEED'] ? [Wait.request({}, { dedupeKey: 'the one' })] : [],
      run: { grace: '20s', poll: '100ms', slots: 2 },
    }),
    QueueMetricsModule.forRoot(),
  ],
  providers: [Database, SlowHooks, WaitHandler, slow],
})
class AppModule {}

void runWorker(AppModule, {
  checks: () => {
    if (process.env['BROKEN']) throw new Error('There is no such check.');
    return { own: () => ({ own: { status: 'up' } }) };
  },
  healthHost: '127.0.0.1',
  healthPort: Number(process.env['HEALTH_PORT']),
  metrics: register,
  ...(process.env['START_GRACE'] ? { startGrace: process.env['START_GRACE'] } : {}),
}).then(({ healthPort }) => tell('started', { port: healthPort }));
