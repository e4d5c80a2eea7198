import { z } from 'zod';
import { ConfigurationError } from './configuration.error.js';

const httpUrl = 'expected an http:// or https:// URL without a user or password';

const schema = z.object({
  /** BODY_LIMIT_BYTES is the largest body that is read. Default 1 MiB. */
  BODY_LIMIT_BYTES: z.coerce.number('expected a number of bytes').int().min(1_024).max(26_214_400).default(1_048_576),
  DATABASE_POOL_SIZE: z.coerce.number('expected a number of connections').int().min(2).max(500).default(10),
  DATABASE_URL: z
    .string('expected the URL of a PostgreSQL database, such as postgres://user:password@host:5432/name')
    .refine((value) => hasProtocol(value, ['postgres:', 'postgresql:']), 'expected a postgres:// URL'),
  /** HOLDFAST_SCHEMA is the schema of the queue's tables. */
  HOLDFAST_SCHEMA: z.string().default('holdfast'),
  HOST: z.string().default('127.0.0.1'),
  /** LOG_LEVEL is the least that is logged; `debug` tells of every claim and attempt. */
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error'], 'expected debug, info, warn or error').default('info'),
  /** MIGRATIONS: `up` applies what is missing at start, `check` refuses to start when something is. */
  MIGRATIONS: z.enum(['up', 'check'], 'expected up or check').default('up'),
  /** PORT 0 takes any free port. */
  PORT: z.coerce.number('expected a port').int().min(0).max(65_535).default(3_000),
  /** WEBHOOK_URL, where set, gets every event: one `webhook.deliver` job each. The worker needs the same URL. */
  WEBHOOK_URL: z.string().refine(isPlainHttpUrl, httpUrl).optional(),
});

/** ApiConfiguration is the environment of the api, read and checked once, frozen. */
export class ApiConfiguration {
  readonly bodyLimitBytes: number;
  readonly databaseUrl: string;
  readonly host: string;
  /** logLevel as Nest names it. */
  readonly logLevel: 'debug' | 'log' | 'warn' | 'error';
  readonly migrations: 'up' | 'check';
  readonly poolSize: number;
  readonly port: number;
  readonly schema: string;
  /** webhooks says whether accepted events are sent on. */
  readonly webhooks: boolean;

  private constructor(values: z.infer<typeof schema>) {
    this.bodyLimitBytes = values.BODY_LIMIT_BYTES;
    this.databaseUrl = values.DATABASE_URL;
    this.host = values.HOST;
    this.logLevel = values.LOG_LEVEL === 'info' ? 'log' : values.LOG_LEVEL;
    this.migrations = values.MIGRATIONS;
    this.poolSize = values.DATABASE_POOL_SIZE;
    this.port = values.PORT;
    this.schema = values.HOLDFAST_SCHEMA;
    this.webhooks = values.WEBHOOK_URL !== undefined;
    Object.freeze(this);
  }

  /** read answers the configuration, or throws ConfigurationError with all of its problems. An empty variable counts as not set. */
  static read(env: NodeJS.ProcessEnv): ApiConfiguration {
    const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
    const parsed = schema.safeParse(given);
    if (parsed.success) return new ApiConfiguration(parsed.data);
    throw new ConfigurationError(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
  }
}

function hasProtocol(value: string, protocols: readonly string[]): boolean {
  return URL.canParse(value) && protocols.includes(new URL(value).protocol);
}

function isPlainHttpUrl(value: string): boolean {
  if (!hasProtocol(value, ['http:', 'https:'])) return false;
  const { password, username } = new URL(value);
  return username === '' && password === '';
}
