import 'reflect-metadata';
import { setTimeout as wait } from 'node:timers/promises';
import { typeOrm } from '@holdfast/kernel/typeorm';
import { Injectable, Module, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import {
  type AttachedContext,
  type DetachedContext,
  done,
  JobHandler,
  type JobOf,
  QueueModule,
  Runner,
  SilentReporter,
} from '../../src/index.js';
import { Attached, Detached, type StopPayload, Stubborn } from './stop.jobs.js';

/**
 * An application of NestJS that runs jobs until a signal ends it, and tells what happens by messages.
 * It is given DATABASE_URL, GRACE, SLOW_START (waits for a message in the middle of its start) and STAY (jobs that are to stay do).
 */

const tell = (event: string, fields: object = {}) => process.send?.({ event, ...fields });
const INSERT = 'INSERT INTO effect (n, kind) VALUES ($1, $2)';

async function work({ ms, n, stay }: StopPayload, signal: AbortSignal): Promise<void> {
  if (!stay) return void (await wait(ms));
  if (!process.env.STAY) return;
  tell('stays', { n });
  await wait(600_000, undefined, { signal });
}

@JobHandler(Attached)
class AttachedHandler {
  async run({ payload }: JobOf<typeof Attached>, ctx: AttachedContext): Promise<void> {
    await ctx.tx.sql.query(INSERT, [payload.n, Attached.kind]);
    await work(payload, ctx.signal);
  }
}

@JobHandler(Detached, { detached: true })
class DetachedHandler {
  async run({ payload }: JobOf<typeof Detached>, ctx: DetachedContext) {
    await work(payload, ctx.signal);
    return ctx.finish(async (tx) => {
      await tx.sql.query(INSERT, [payload.n, Detached.kind]);
      return done();
    });
  }
}

@JobHandler(Stubborn, { detached: true })
class StubbornHandler {
  run(): Promise<void> {
    tell('stubborn');
    return new Promise(() => undefined);
  }
}

@Injectable()
class Client implements OnModuleDestroy, OnModuleInit {
  async onModuleInit(): Promise<void> {
    if (!process.env.SLOW_START) return;
    tell('starting');
    await new Promise<void>((resolve) => void process.once('message', () => resolve()));
  }

  onModuleDestroy(): void {
    tell('client destroyed');
  }
}

@Module({
  imports: [
    QueueModule.forRootAsync({
      inject: [DataSource],
      roles: ['run'],
      useFactory: (dataSource: DataSource) => ({
        database: typeOrm(dataSource),
        reporter: new SilentReporter(),
        run: { abortWaitMs: 200, grace: process.env.GRACE, poll: '100ms', slots: 8 },
      }),
    }),
    TypeOrmModule.forRoot({ type: 'postgres', url: process.env.DATABASE_URL, extra: { max: 10 } }),
  ],
  providers: [AttachedHandler, Client, DetachedHandler, StubbornHandler],
})
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule, { abortOnError: false, logger: false });
  app.enableShutdownHooks(undefined, { useProcessExit: true });
  app.get(Runner).events.subscribe((event) => tell(event.type, event.type.startsWith('runner.') ? event : {}));
  await app.init();
  tell('ready');
}

void main();
