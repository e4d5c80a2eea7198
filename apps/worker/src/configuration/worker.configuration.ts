import { hubVariables, readEnvironment } from '@holdfast/hub';
import { parseDuration } from '@holdfast/kernel';
import { z } from 'zod';

const duration = z
  .string()
  .refine(isDuration, "expected a number with a unit, such as '30s'")
  .transform((value) => parseDuration(value));

const schema = z
  .object({
    ...hubVariables,
    /** ALLOW_PRIVATE_ADDRESSES lets webhooks reach loopback, private and link-local addresses: for development alone. */
    ALLOW_PRIVATE_ADDRESSES: z.enum(['true', 'false'], 'expected true or false').default('false'),
    /** DATABASE_POOL_SIZE is the application's pool; attached jobs hold one connection each. Default: SLOTS and 2 more. */
    DATABASE_POOL_SIZE: z.coerce.number('expected a number of connections').int().min(2).max(500).optional(),
    /** GRACE is how long a stop lets running jobs go on. */
    GRACE: duration.default(20_000),
    /** LEASE is how long a killed worker keeps a detached job to itself; a quarter of it is the margin of an attached one. */
    LEASE: duration.refine((ms) => ms >= 2_000, 'expected at least 2s').default(60_000),
    /** POLL is the longest time between two looks for due jobs. */
    POLL: duration.default(2_000),
    /** PORT of the health endpoints; 0 takes any free port. */
    PORT: z.coerce.number('expected a port').int().min(0).max(65_535).default(3_001),
    /** SLOTS is how many jobs run at once. */
    SLOTS: z.coerce.number('expected a number of jobs').int().min(1).max(400).default(10),
  })
  .superRefine((values, context) => {
    const poolSize = values.DATABASE_POOL_SIZE ?? Infinity;
    if (poolSize < values.SLOTS) {
      context.addIssue({
        code: 'custom',
        path: ['DATABASE_POOL_SIZE'],
        message: `expected at least SLOTS (${values.SLOTS}): each attached job holds a connection`,
      });
    }
  });

/** WorkerConfiguration is the environment of the worker, read and checked once, frozen. */
export class WorkerConfiguration {
  readonly allowPrivateAddresses: boolean;
  readonly databaseUrl: string;
  readonly graceMs: number;
  readonly host: string;
  readonly leaseMs: number;
  /** logLevel as Nest names it. */
  readonly logLevel: 'debug' | 'log' | 'warn' | 'error';
  readonly migrations: 'up' | 'check';
  readonly pollMs: number;
  readonly poolSize: number;
  readonly port: number;
  readonly schema: string;
  readonly slots: number;

  private constructor(values: z.infer<typeof schema>) {
    this.allowPrivateAddresses = values.ALLOW_PRIVATE_ADDRESSES === 'true';
    this.databaseUrl = values.DATABASE_URL;
    this.graceMs = values.GRACE;
    this.host = values.HOST;
    this.leaseMs = values.LEASE;
    this.logLevel = values.LOG_LEVEL;
    this.migrations = values.MIGRATIONS;
    this.pollMs = values.POLL;
    this.poolSize = values.DATABASE_POOL_SIZE ?? values.SLOTS + 2;
    this.port = values.PORT;
    this.schema = values.HOLDFAST_SCHEMA;
    this.slots = values.SLOTS;
    Object.freeze(this);
  }

  /** read answers the configuration, or throws ConfigurationError with all of its problems. An empty variable counts as not set. */
  static read(env: NodeJS.ProcessEnv): WorkerConfiguration {
    return new WorkerConfiguration(readEnvironment(schema, env));
  }
}

function isDuration(value: string): boolean {
  try {
    return parseDuration(value) > 0;
  } catch {
    return false;
  }
}
