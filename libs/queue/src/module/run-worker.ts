import { parseDuration, withDeadline } from '@holdfast/kernel';
import { type INestApplicationContext, Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { StartUnfinishedError } from '../errors/start-unfinished.error.js';
import { DEFAULT_TIMEOUT_MS } from '../health/health.indicator.js';
import { HealthServer, type MetricsSource } from '../health/health.server.js';
import { type HealthCheck, readinessOf } from '../health/readiness.js';
import { healthChecksOf } from './health.providers.js';
import { checkWorkerOptions } from './run-worker.options.js';
import { WorkerSignals } from './worker.signals.js';

/** What a check with its own timeout may take longer, before it is given up. */
const PATIENCE_MS = 100;
const DEFAULT_START_GRACE = '10s';

/** RootModule is what NestFactory takes for a module: a class, or a dynamic module. */
export type RootModule = Parameters<typeof NestFactory.createApplicationContext>[0];

/** ContextOptions are what NestFactory takes for an application without HTTP. */
export type ContextOptions = NonNullable<Parameters<typeof NestFactory.createApplicationContext>[1]>;

/** RunWorkerOptions say where a worker answers for its health, and how it starts. */
export interface RunWorkerOptions {
  /** application are the options of the Nest application context, such as `logger`. Default none. */
  readonly application?: Omit<ContextOptions, 'abortOnError'>;
  /** backlog is the age from which on due jobs make the key `runner` degraded, or `'off'`. Default `'15m'`. */
  readonly backlog?: string;
  /** checks answers checks of the application's own, by key, beside those of the queue. Default none. */
  readonly checks?: (app: INestApplicationContext) => Readonly<Record<string, HealthCheck>>;
  /** healthHost is the address it listens on. Default `'0.0.0.0'`, which the probes of Kubernetes need. */
  readonly healthHost?: string;
  /** healthPort is where `/health/live` and `/health/ready` are served; 0 lets the system choose. Required. */
  readonly healthPort: number;
  /** healthTimeoutMs bounds each check; an answer comes 100 ms later at the latest. Default 800, for probes that wait for a second. */
  readonly healthTimeoutMs?: number;
  /** leaderWithin is for how long no leader may be seen before the key `leadership` is degraded; longer than your longest duty. Default `'2m'`. */
  readonly leaderWithin?: string;
  /**
   * metrics are served at `/metrics` on the health port (M1): a registry of prom-client, such as its `register`, or anything with `contentType` and
   * `metrics()`. Default none: `/metrics` is 404.
   */
  readonly metrics?: MetricsSource;
  /** signals that end it. Default SIGTERM and SIGINT; none where something else calls `stop`. */
  readonly signals?: readonly NodeJS.Signals[];
  /** startGrace is how long a start that is under way when the signal comes may take to end; then the process ends with 1. Default `'10s'`. */
  readonly startGrace?: string;
}

/** RunningWorker is a worker that has started. */
export interface RunningWorker {
  /** app is the application, whose providers can be had of it. */
  readonly app: INestApplicationContext;
  /** healthPort is where it answers, also where the system chose it. */
  readonly healthPort: number;
  /** stop drains and ends the application, then the health server; the process goes on. Idempotent. */
  stop(): Promise<void>;
}

/**
 * runWorker runs a module without HTTP of its own: its jobs, its duties, and a small server for the probes of what runs it (H1).
 *
 * The health server is there first, so that live is 200 while the application starts and ready 503; during the drain as well, until the end. The first
 * signal ends the process in good order with 0 (R17), or with 1 where that failed; a second, a second later, at once with 128 and its number. A start that
 * is under way is let end first, for as long as `startGrace` says.
 * Rejects when it cannot start: InvalidQueueOptionsError or HealthPortError before anything else was begun, or what the application threw; then nothing
 * is left open, and an uncaught rejection ends the process with 1.
 */
export async function runWorker(module: RootModule, options: RunWorkerOptions): Promise<RunningWorker> {
  checkWorkerOptions(options);
  const { application, healthHost = '0.0.0.0', healthPort, metrics, signals = ['SIGTERM', 'SIGINT'] } = options;
  const logger = new Logger('Holdfast');
  const { checks, healthTimeoutMs: timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const startGraceMs = parseDuration(options.startGrace ?? DEFAULT_START_GRACE);
  const thresholds = { ...thresholdsOf(options), timeoutMs };
  const server = await HealthServer.open({ host: healthHost, metrics, port: healthPort });
  const { port } = server;
  const checksOf = (app: INestApplicationContext) => ({ ...healthChecksOf(app, thresholds), ...checks?.(app) });
  const starting = startContext(module, application, server, checksOf, timeoutMs);
  let stopped: Promise<void> | undefined;
  const stop = (signal?: NodeJS.Signals): Promise<void> => {
    server.drain();
    stopped ??= endOf(starting, startGraceMs, signal).finally(() => server.close());
    return stopped;
  };
  const listening = new WorkerSignals({ logger, signals, stop });
  try {
    const app = await starting;
    logger.log(`Health on port ${port}: /health/live and /health/ready${metrics ? ', and /metrics' : ''}.`);
    return { app, healthPort: port, stop: () => stop().finally(() => listening.off()) };
  } catch (error) {
    listening.off();
    await server.close();
    throw error;
  }
}

/** An application that still starts cannot be closed. Hooks are told the signal, as those of an application that Nest itself ends. */
async function endOf(
  starting: Promise<{ close(signal?: string): Promise<void> }>,
  startGraceMs: number,
  signal: NodeJS.Signals | undefined,
): Promise<void> {
  const app = await withDeadline(starting, startGraceMs, () => new StartUnfinishedError(startGraceMs));
  await app.close(signal);
}

async function startContext(
  module: RootModule,
  application: RunWorkerOptions['application'],
  server: HealthServer,
  checksOf: (app: INestApplicationContext) => Readonly<Record<string, HealthCheck>>,
  timeoutMs: number,
): Promise<INestApplicationContext> {
  const app = await NestFactory.createApplicationContext(module, { ...application, abortOnError: false });
  try {
    const logger = new Logger('Holdfast');
    const checks = checksOf(app);
    const onError = (key: string, error: unknown) => logger.error(`The health check ${key} failed.`, error);
    server.serve(() => readinessOf(checks, { onError, withinMs: timeoutMs + PATIENCE_MS }));
    return app;
  } catch (error) {
    await app.close();
    throw error;
  }
}

/** An option that is not given leaves an indicator's own default. */
function thresholdsOf({ backlog, leaderWithin }: RunWorkerOptions): { backlog?: string; leaderWithin?: string } {
  return { ...(backlog === undefined ? {} : { backlog }), ...(leaderWithin === undefined ? {} : { leaderWithin }) };
}
