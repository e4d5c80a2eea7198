import 'reflect-metadata';
import { setImmediate as turn } from 'node:timers/promises';
import { pgPool } from '@holdfast/kernel';
import { Inject, Injectable, Module, Scope } from '@nestjs/common';
import { NestFactory, REQUEST } from '@nestjs/core';
import { Pool } from 'pg';
import { defineJob, JobHandler, JobQueue, QueueModule, Runner, SilentReporter, type } from '../../src/index.js';

/** An application with request-scoped handlers, run with --expose-gc: it tells how many of the instances are left when their jobs are over. */

const JOBS = 30;
const Attached = defineJob('scope.attached', { payload: type<object>() });
const Detached = defineJob('scope.detached', { payload: type<object>() });
const made: WeakRef<object>[] = [];

@Injectable({ scope: Scope.REQUEST })
class PerJob {
  constructor(@Inject(REQUEST) readonly job: object) {
    made.push(new WeakRef(this), new WeakRef(job));
  }
}

@Injectable({ scope: Scope.TRANSIENT })
class Note {
  constructor(readonly perJob: PerJob) {
    made.push(new WeakRef(this));
  }
}

@JobHandler(Detached, { detached: true })
@JobHandler(Attached)
class Handler {
  constructor(
    readonly perJob: PerJob,
    readonly note: Note,
  ) {
    made.push(new WeakRef(this));
  }

  async run(): Promise<void> {}
}

const pool = new Pool({ connectionString: process.env.DATABASE_URL!, max: 6 });

@Module({
  imports: [
    QueueModule.forRoot({
      database: pgPool(pool),
      reporter: new SilentReporter(),
      roles: ['run'],
      run: { poll: '100ms', slots: 4 },
    }),
  ],
  providers: [Handler, Note, PerJob],
})
class ScopeModule {}

async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(ScopeModule, { logger: false });
  let completed = 0;
  const all = new Promise<void>((resolve) =>
    app.get(Runner).events.subscribe(({ type: kind }) => {
      if (kind === 'job.completed' && (completed += 1) === JOBS) resolve();
    }),
  );
  const requests = Array.from({ length: JOBS }, (_, at) => (at % 2 ? Attached : Detached).request({}));
  await app.get(JobQueue).enqueueMany(requests, { in: 'own' });
  await all;
  let alive = made.length;
  // What the last turn looked at is kept until it ends.
  for (let tries = 0; tries < 20 && alive > 0; tries += 1) {
    await turn();
    globalThis.gc!();
    alive = made.filter((ref) => ref.deref() !== undefined).length;
  }
  process.send?.({ event: 'counted', alive, made: made.length });
  await app.close();
  await pool.end();
  process.exit(0);
}

void main();
