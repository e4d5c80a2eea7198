import { parseDuration, property } from '@holdfast/kernel';
import { optionText } from '../domain/text.js';
import { InvalidQueueOptionsError } from '../errors/invalid-queue-options.error.js';
import type { RunWorkerOptions } from './run-worker.js';

const MAX_TIMEOUT_MS = 60_000;

type Check = (value: unknown) => string | undefined;

const CHECKS: Readonly<Record<keyof RunWorkerOptions, Check>> = {
  application: (value) => (typeof value === 'object' && value !== null ? undefined : 'must be an object'),
  backlog: (value) => (value === 'off' ? undefined : problemOfDuration(value)),
  checks: (value) => (typeof value === 'function' ? undefined : 'must be a function'),
  healthHost: (value) => (typeof value === 'string' && value !== '' ? undefined : 'must be an address'),
  healthPort: (value) => (isWithin(value, 0, 65_535) ? undefined : 'must be a whole number from 0 to 65535'),
  healthTimeoutMs: (value) =>
    isWithin(value, 1, MAX_TIMEOUT_MS)
      ? undefined
      : `must be a whole number of milliseconds from 1 to ${MAX_TIMEOUT_MS}`,
  leaderWithin: problemOfDuration,
  metrics: (value) =>
    typeof property(value, 'metrics') === 'function' && typeof property(value, 'contentType') === 'string'
      ? undefined
      : 'must be a registry of prom-client',
  signals: (value) => (Array.isArray(value) ? undefined : 'must be a list of signals'),
  startGrace: problemOfDuration,
};

/** checkWorkerOptions throws InvalidQueueOptionsError with every mistake: what is refused here would fail each probe. */
export function checkWorkerOptions(options: RunWorkerOptions): void {
  const given: unknown = options;
  if (typeof given !== 'object' || given === null)
    throw new InvalidQueueOptionsError(['runWorker takes options: { healthPort: 3001 }']);
  const problems: string[] = [];
  for (const [name, value] of Object.entries({ ...options, healthPort: options.healthPort })) {
    if (!Object.hasOwn(CHECKS, name)) problems.push(`${name} is no option of runWorker`);
    else if (value !== undefined || name === 'healthPort') {
      const problem = CHECKS[name as keyof RunWorkerOptions](value);
      if (problem) problems.push(`${name} ${problem}, not ${optionText(value)}`);
    }
  }
  if (problems.length > 0) throw new InvalidQueueOptionsError(problems);
}

function isWithin(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

function problemOfDuration(value: unknown): string | undefined {
  try {
    parseDuration(value as string);
    return undefined;
  } catch {
    return "must be a duration with its unit, such as '15m'";
  }
}
