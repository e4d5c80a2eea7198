import { parseDuration } from '@holdfast/kernel';
import { InvalidSchedulerOptionsError } from '../errors/invalid-scheduler-options.error.js';
import { resolveSchedulerOptions, type SchedulerOptions } from '../scheduler/scheduler.options.js';
import type { LeadershipMode, QueueOptions } from './queue.options.js';

const MODES: readonly unknown[] = ['advisory-lock', 'always', 'never'];

/** scheduleOptionsOf answers what the scheduler is given, and adds what is wrong with it to the problems. */
export function scheduleOptionsOf(
  { run, schedule }: QueueOptions,
  problems: string[],
): { readonly leadership: LeadershipMode; readonly schedule: SchedulerOptions } {
  const given: unknown = schedule ?? {};
  if (typeof given !== 'object' || given === null) {
    problems.push('schedule must be an object');
    return { leadership: 'never', schedule: {} };
  }
  const { leadership = 'advisory-lock', tick, ...rest } = schedule ?? {};
  if (!MODES.includes(leadership)) problems.push(`schedule.leadership must be one of ${MODES.join(', ')}`);
  if (Object.hasOwn(rest, 'owner')) problems.push('schedule.owner is no option: run.owner names this process');
  if (tick !== undefined && rest.tickMs !== undefined)
    problems.push('schedule.tick and schedule.tickMs exclude each other');
  const tickMs = tickOf(tick, problems) ?? rest.tickMs;
  const owner = run?.owner === '' ? undefined : run?.owner;
  const options = { ...rest, ...(tickMs !== undefined && { tickMs }), ...(owner !== undefined && { owner }) };
  try {
    resolveSchedulerOptions(options, 'check');
  } catch (error) {
    if (!(error instanceof InvalidSchedulerOptionsError)) throw error;
    problems.push(...error.problems.map((problem) => `schedule: ${problem}`));
  }
  return { leadership, schedule: options };
}

function tickOf(tick: string | undefined, problems: string[]): number | undefined {
  if (tick === undefined) return undefined;
  try {
    return parseDuration(tick);
  } catch (error) {
    problems.push(`schedule.tick: ${(error as Error).message.replace(/\.$/, '')}`);
    return undefined;
  }
}
