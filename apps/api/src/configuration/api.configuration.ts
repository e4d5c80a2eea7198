import { hubVariables, readEnvironment } from '@holdfast/hub';
import { z } from 'zod';

const schema = z.object({
  ...hubVariables,
  /** BODY_LIMIT_BYTES is the largest body that is read. Default 1 MiB. */
  BODY_LIMIT_BYTES: z.coerce.number('expected a number of bytes').int().min(1_024).max(26_214_400).default(1_048_576),
  DATABASE_POOL_SIZE: z.coerce.number('expected a number of connections').int().min(2).max(500).default(10),
  /** OPERATOR_TOKEN lets its bearer make tenants and their keys; without it those routes are not there. */
  OPERATOR_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{20,200}$/, 'expected 20 to 200 printable characters without spaces')
    .optional(),
  /** PORT 0 takes any free port. */
  PORT: z.coerce.number('expected a port').int().min(0).max(65_535).default(3_000),
});

/** ApiConfiguration is the environment of the api, read and checked once, frozen. */
export class ApiConfiguration {
  readonly bodyLimitBytes: number;
  readonly databaseUrl: string;
  readonly host: string;
  /** logLevel as Nest names it. */
  readonly logLevel: 'debug' | 'log' | 'warn' | 'error';
  readonly migrations: 'up' | 'check';
  /** operatorToken is undefined where nobody makes tenants through this api. */
  readonly operatorToken: string | undefined;
  readonly poolSize: number;
  readonly port: number;
  readonly schema: string;

  private constructor(values: z.infer<typeof schema>) {
    this.bodyLimitBytes = values.BODY_LIMIT_BYTES;
    this.databaseUrl = values.DATABASE_URL;
    this.host = values.HOST;
    this.logLevel = values.LOG_LEVEL;
    this.migrations = values.MIGRATIONS;
    this.operatorToken = values.OPERATOR_TOKEN;
    this.poolSize = values.DATABASE_POOL_SIZE;
    this.port = values.PORT;
    this.schema = values.HOLDFAST_SCHEMA;
    Object.freeze(this);
  }

  /** read answers the configuration, or throws ConfigurationError with all of its problems. An empty variable counts as not set. */
  static read(env: NodeJS.ProcessEnv): ApiConfiguration {
    return new ApiConfiguration(readEnvironment(schema, env));
  }
}
