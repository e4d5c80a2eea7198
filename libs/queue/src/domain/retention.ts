import { parseDuration } from '@holdfast/kernel/pure';
import { JobState } from './job-state.js';

/** RetentionOptions say how long a job is kept after its end, by how it ended: a duration such as `'14d'`, or `'forever'` (S5). */
export interface RetentionOptions {
  /** cancelled jobs. Default `'14d'`. */
  readonly cancelled?: string;
  /** deadLetter: jobs out of attempts, or whose error was permanent. Default `'14d'`. */
  readonly deadLetter?: string;
  /** failed: jobs that were refused. Default `'14d'`. */
  readonly failed?: string;
  /** succeeded jobs. Default `'1d'`. */
  readonly succeeded?: string;
}

/** Ending is a final state as an option of retention names it. */
export type Ending = keyof RetentionOptions;

/** Keep is for how long, in milliseconds, or forever. */
export type Keep = number | 'forever';

/** Retention is how long jobs of each final state are kept. */
export type Retention = Readonly<Record<Ending, Keep>>;

const DAY_MS = 86_400_000;

/** DEFAULT_RETENTION is what holds where neither the module nor the definition says otherwise (S5). */
export const DEFAULT_RETENTION: Retention = Object.freeze({
  cancelled: 14 * DAY_MS,
  deadLetter: 14 * DAY_MS,
  failed: 14 * DAY_MS,
  succeeded: DAY_MS,
});

/** ENDINGS are the final states with the number that the table holds. */
export const ENDINGS = Object.freeze({
  cancelled: JobState.CANCELLED,
  deadLetter: JobState.DEAD_LETTER,
  failed: JobState.FAILED,
  succeeded: JobState.SUCCEEDED,
});

/** Shorter, and a completion whose answer was lost could not be told from one that never was (R3): its row is where that is looked up. */
const LEAST_MS = 60_000;

/** problemOfRetention answers what is wrong with what was given for retention, or undefined. */
export function problemOfRetention(given: unknown): string | undefined {
  if (typeof given !== 'object' || given === null) return "must be an object such as { succeeded: '1d' }";
  const problems = Object.entries(given).flatMap(([name, value]) => {
    if (!Object.hasOwn(ENDINGS, name)) return [`${name} is no final state`];
    const problem = value === undefined ? undefined : problemOfKeep(value);
    return problem === undefined ? [] : [`${name} ${problem}`];
  });
  return problems.length > 0 ? `has mistakes: ${problems.join(', ')}` : undefined;
}

/** retentionOf answers what was given, in milliseconds; what was not given is left out. Throws for what problemOfRetention finds. */
export function retentionOf(given: RetentionOptions): Readonly<Partial<Retention>> {
  const said = Object.entries(given).filter(([, value]) => value !== undefined) as [Ending, string][];
  return Object.freeze(Object.fromEntries(said.map(([name, value]) => [name, keepOf(value)])));
}

function keepOf(value: string): Keep {
  return value === 'forever' ? value : parseDuration(value);
}

function problemOfKeep(value: unknown): string | undefined {
  try {
    const keep = keepOf(value as string);
    return keep === 'forever' || keep >= LEAST_MS ? undefined : `must be at least '1m', not ${String(value)}`;
  } catch (error) {
    return `is refused: ${(error as Error).message.replace(/\.$/, '')}; or write 'forever'`;
  }
}
