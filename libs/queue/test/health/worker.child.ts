import 'reflect-metadata';
import { pgPool } from '@holdfast/kernel';
import { Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Pool } from 'pg';
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

const slow = {
  provide: 'slow',
  useFactory: async () => {
    if (!process.env['SLOW']) return;
    tell('starting');
    await told('start');
  },
};

@Module({
  imports: [QueueModule.forRoot({ database: pgPool(pool), run: { grace: '20s', poll: '100ms', slots: 2 } })],
  providers: [Database, WaitHandler, slow],
})
class AppModule {}

void runWorker(AppModule, {
  checks: () => {
    if (process.env['BROKEN']) throw new Error('There is no such check.');
    return { own: () => ({ own: { status: 'up' } }) };
  },
  healthHost: '127.0.0.1',
  healthPort: Number(process.env['HEALTH_PORT']),
}).then(({ healthPort }) => tell('started', { port: healthPort }));
