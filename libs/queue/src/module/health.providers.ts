import type { INestApplicationContext, Provider, Type } from '@nestjs/common';
import { HealthProbe } from '../assembly/health.probe.js';
import type { HealthIndicator } from '../health/health.indicator.js';
import { LeadershipHealthIndicator, type LeadershipHealthOptions } from '../health/leadership.health-indicator.js';
import { QueueDatabaseHealthIndicator } from '../health/queue-database.health-indicator.js';
import { QueueMigrationsHealthIndicator } from '../health/queue-migrations.health-indicator.js';
import type { HealthCheck } from '../health/readiness.js';
import { RunnerHealthIndicator, type RunnerHealthOptions } from '../health/runner.health-indicator.js';
import { JobStore } from '../ports/job-store.js';
import { Runner } from '../runner/runner.js';
import { QUEUE_OPTIONS } from './queue.module-options.js';
import type { QueueRoles } from './queue.roles.js';

/** KeyOptions are what the indicators take together; each reads its own. */
type KeyOptions = LeadershipHealthOptions & RunnerHealthOptions;

/** Each indicator with the key under which a worker without HTTP of its own shows it. */
const KEYS: Readonly<Record<string, Type<HealthIndicator<KeyOptions>>>> = {
  database: QueueDatabaseHealthIndicator,
  leadership: LeadershipHealthIndicator,
  migrations: QueueMigrationsHealthIndicator,
  runner: RunnerHealthIndicator,
};

const shared: Provider[] = [
  {
    provide: HealthProbe,
    inject: [QUEUE_OPTIONS],
    useFactory: (options: ConstructorParameters<typeof HealthProbe>[0]) => new HealthProbe(options),
  },
  {
    provide: QueueDatabaseHealthIndicator,
    inject: [HealthProbe],
    useFactory: (probe: HealthProbe) => new QueueDatabaseHealthIndicator((withinMs) => probe.writable(withinMs)),
  },
  {
    provide: QueueMigrationsHealthIndicator,
    inject: [HealthProbe],
    useFactory: (probe: HealthProbe) => new QueueMigrationsHealthIndicator(() => probe.fitTables()),
  },
];

const ofRunner: Provider = {
  provide: RunnerHealthIndicator,
  inject: [JobStore, Runner],
  useFactory: (store: JobStore, runner: Runner) =>
    new RunnerHealthIndicator({ depth: (kinds) => store.depth(kinds), vitals: () => runner.vitals }),
};

/** healthProviders are the indicators of a process with these roles. */
export function healthProviders(roles: QueueRoles): Provider[] {
  return [...shared, ...(roles.run ? [ofRunner] : [])];
}

/** healthExports are the indicators that the application may inject. */
export function healthExports(roles: QueueRoles): Type[] {
  const all: Type[] = [QueueDatabaseHealthIndicator, QueueMigrationsHealthIndicator];
  return [...all, ...(roles.run ? [RunnerHealthIndicator as Type] : [])];
}

/** healthChecksOf answers a check for each indicator that the application has. */
export function healthChecksOf(app: INestApplicationContext, options: KeyOptions): Record<string, HealthCheck> {
  const found = Object.entries(KEYS).flatMap(([key, token]) => {
    const indicator = indicatorOf(app, token);
    return indicator ? [[key, () => indicator.check(key, options)] as const] : [];
  });
  return Object.fromEntries(found);
}

/** A process has the indicators of its roles. */
function indicatorOf<T>(app: INestApplicationContext, token: Type<T>): T | undefined {
  try {
    return app.get(token, { strict: false });
  } catch {
    return undefined;
  }
}
