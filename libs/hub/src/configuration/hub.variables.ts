import { z } from 'zod';
import { ConfigurationError } from './configuration.error.js';

/** hubVariables are the environment variables that both apps read, each with its default. */
export const hubVariables = {
  DATABASE_URL: z
    .string('expected the URL of a PostgreSQL database, such as postgres://user:password@host:5432/name')
    .refine((value) => hasProtocol(value, ['postgres:', 'postgresql:']), 'expected a postgres:// URL'),
  /** HOLDFAST_SCHEMA is the schema of the queue's tables. */
  HOLDFAST_SCHEMA: z.string().default('holdfast'),
  HOST: z.string().default('127.0.0.1'),
  /** LOG_LEVEL is the least that is logged; `debug` tells of every claim and attempt. */
  LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error'], 'expected debug, info, warn or error')
    .default('info')
    .transform((level) => (level === 'info' ? 'log' : level)),
  /** MIGRATIONS: `up` applies what is missing at start, `check` refuses to start when something is. */
  MIGRATIONS: z.enum(['up', 'check'], 'expected up or check').default('up'),
};

/** readEnvironment answers the checked variables, or throws ConfigurationError with all problems, by variable. An empty variable counts as not set. */
export function readEnvironment<Schema extends z.ZodType>(schema: Schema, env: NodeJS.ProcessEnv): z.output<Schema> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new ConfigurationError(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).sort());
}

function hasProtocol(value: string, protocols: readonly string[]): boolean {
  return URL.canParse(value) && protocols.includes(new URL(value).protocol);
}
