import { InvalidSchedulerOptionsError } from '../errors/invalid-scheduler-options.error.js';

/** SchedulerOptions say how often a scheduler does what. */
export interface SchedulerOptions {
  /** abortWaitMs is how long a duty whose deadline is over may take to return before the next one has its turn. Default 1 000. */
  readonly abortWaitMs?: number;
  /** depthMs is how often the leader reports what is due (S2). Default 30 000. */
  readonly depthMs?: number;
  /** healthMs is how often the leader reads what PostgreSQL says of itself (M3). Default 30 000. */
  readonly healthMs?: number;
  /** owner names this process on the runs of its duties. Default: host name and process id. */
  readonly owner?: string;
  /** retentionMs is how often the leader removes finished jobs that have been kept for long enough (S5). Default 60 000. */
  readonly retentionMs?: number;
  /** stopWaitMs is how long a stop waits for the running duty, whose signal it aborts. Default 5 000. */
  readonly stopWaitMs?: number;
  /** tickMs is how often leadership is proved and duties are looked for (S1), from 100 to a day. Default 10 000. */
  readonly tickMs?: number;
  /** unhandledMs is how often the leader looks for live jobs that no process handles (S6). Default 60 000. */
  readonly unhandledMs?: number;
}

/** ResolvedSchedulerOptions are the options with their defaults, checked. */
export type ResolvedSchedulerOptions = Readonly<Required<SchedulerOptions>>;

const DAY_MS = 86_400_000;
const LEAST_MS = 100;

/** The least of each, in milliseconds. */
const DURATIONS = {
  abortWaitMs: 0,
  depthMs: LEAST_MS,
  healthMs: LEAST_MS,
  retentionMs: LEAST_MS,
  stopWaitMs: 0,
  tickMs: LEAST_MS,
  unhandledMs: LEAST_MS,
};

/** resolveSchedulerOptions fills in the defaults. Throws InvalidSchedulerOptionsError with every problem at once. */
export function resolveSchedulerOptions(options: SchedulerOptions, defaultOwner: string): ResolvedSchedulerOptions {
  const problems: string[] = [];
  for (const [name, value] of Object.entries(options)) {
    if (name === 'owner') {
      if (typeof value !== 'string' || value === '') problems.push('owner must be a text');
    } else if (!Object.hasOwn(DURATIONS, name)) problems.push(`${name} is no option of a scheduler`);
    else {
      const least = DURATIONS[name as keyof typeof DURATIONS];
      if (value !== undefined && !(typeof value === 'number' && value >= least && value <= DAY_MS))
        problems.push(`${name} must be a number of milliseconds from ${least} to a day, not ${String(value)}`);
    }
  }
  if (problems.length > 0) throw new InvalidSchedulerOptionsError(problems);
  return Object.freeze({
    abortWaitMs: options.abortWaitMs ?? 1_000,
    depthMs: options.depthMs ?? 30_000,
    healthMs: options.healthMs ?? 30_000,
    owner: options.owner ?? defaultOwner,
    retentionMs: options.retentionMs ?? 60_000,
    stopWaitMs: options.stopWaitMs ?? 5_000,
    tickMs: options.tickMs ?? 10_000,
    unhandledMs: options.unhandledMs ?? 60_000,
  });
}
