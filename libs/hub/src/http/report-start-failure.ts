import { ConfigurationError } from '../configuration/configuration.error.js';

/** reportStartFailure says why an app could not start, a mistake in its configuration without a stack, and ends the process with 1. */
export function reportStartFailure(app: string, error: unknown): never {
  const reason =
    error instanceof ConfigurationError || !(error instanceof Error) ? String(error) : (error.stack ?? error.message);
  process.stderr.write(`The ${app} could not start. ${reason}\n`);
  process.exit(1);
}
