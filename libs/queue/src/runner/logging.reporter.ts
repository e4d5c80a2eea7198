import { Reporter } from '../ports/reporter.js';
import type { EventOf, JobEvent, RunnerEvent } from '../ports/runner.events.js';

/** LogLevel is how much a line matters. */
export type LogLevel = 'debug' | 'error' | 'info' | 'warn';

/** LogSink takes one line with its fields; Nest's logger, pino and the console are each a line away from it. */
export type LogSink = (level: LogLevel, message: string, fields: Readonly<Record<string, unknown>>) => void;

type Lines = {
  readonly [T in RunnerEvent['type']]: (event: EventOf<T>) => readonly [level: LogLevel, message: string];
};

const LINES: Lines = {
  'claim.answered': ({ asked, got }) => ['debug', `Claimed ${got} of ${asked}.`],
  'claim.given_back': ({ jobs }) => ['warn', `The answer to a claim was lost; ${jobs} jobs were given back.`],
  'intake.done': ({ result: { created, merged, waiting } }) => [
    'debug',
    `Intake: ${created} created, ${merged} merged, ${waiting} waiting.`,
  ],
  'job.completed': (event) => ['debug', `${nameOf(event)} ${event.verb === 'repeat' ? 'will repeat' : 'is done'}.`],
  'job.dead_lettered': (event) => ['error', `${nameOf(event)} is a dead letter: ${event.code}.`],
  'job.deferred': (event) => [
    'warn',
    `${nameOf(event)} was deferred: ${event.code}. Again in ${event.delayMs} ms, no attempt spent.`,
  ],
  'job.given_back': (event) => ['debug', `${nameOf(event)} was given back with its attempt: ${event.reason}.`],
  'job.lost': (event) => [
    'warn',
    `${nameOf(event)} lost its lease, after ${Math.round(event.ranMs)} ms: what it wrote was rolled back.`,
  ],
  'job.overrun': (event) => [
    'warn',
    `${nameOf(event)} ${event.returned ? 'returned' : 'still runs'} ${Math.round(event.overMs)} ms after it was told to stop.`,
  ],
  'job.refused': (event) => ['debug', `${nameOf(event)} was refused: ${event.code}.`],
  'job.rerun': (event) => [
    'debug',
    `${nameOf(event)} is run again at once (${event.rerun}): a serialization failure or a deadlock.`,
  ],
  'job.retried': (event) => ['warn', `${nameOf(event)} failed: ${event.code}. Next attempt in ${event.delayMs} ms.`],
  'job.started': (event) => ['debug', `${nameOf(event)} started.`],
  'job.threw_after_finish': (event) => ['warn', `${nameOf(event)} threw after it had settled; what it settled stands.`],
  'job.unrecorded': (event) => [
    'error',
    `${nameOf(event)}: its end could not be recorded; the job comes back when its lease has run out.`,
  ],
  'kinds.unknown': ({ kinds }) => ['warn', `Jobs wait for kinds without a handler here: ${kinds.join(', ')}.`],
  'lease.renewal_failed': ({ leases }) => ['warn', `${leases} leases could not be renewed; tried again shortly.`],
  'lease.renewed': ({ leases }) => ['debug', `${leases} leases were renewed.`],
  'loop.failed': ({ delayMs, failures, stage }) => [
    failures === 1 ? 'warn' : 'error',
    `The runner's ${stage} failed (${failures} in a row); again in ${delayMs} ms.`,
  ],
  'loop.recovered': ({ failures, stage }) => ['info', `The runner's ${stage} works again after ${failures} failures.`],
  'process.blocked': ({ blockedMs }) => [
    'warn',
    `The event loop was blocked for ${Math.round(blockedMs)} ms: renewals and timeouts were late by as much.`,
  ],
  'reap.done': ({ result: { deadLettered, returned } }) =>
    deadLettered.length > 0
      ? ['error', `${deadLettered.length} jobs vanished in their last attempt and are dead letters.`]
      : ['warn', `${returned.length} jobs were taken back from leases that ran out.`],
  'runner.drained': ({ abandoned, givenBack }) => [
    abandoned > 0 ? 'warn' : 'info',
    `Drained: ${givenBack} jobs given back, ${abandoned} handlers never returned.`,
  ],
  'runner.draining': ({ graceMs, running }) => ['info', `Draining: ${running} jobs have ${graceMs} ms to end.`],
  'runner.started': ({ connections, kinds, slots, warnings }) => {
    const held = connections.map((role) => `${role.role} ${role.connections}`).join(', ');
    const line = [`Running ${kinds.length} kinds on ${slots} slots. Connections: ${held}.`, ...warnings].join(' ');
    return [warnings.length > 0 ? 'warn' : 'info', line];
  },
  'runner.stopped': () => ['info', 'The runner has stopped.'],
  'suspects.awaited': ({ due, running }) => [
    'info',
    `${due} jobs whose last run vanished are due: ${running} running jobs end first, then each runs alone.`,
  ],
  'suspects.postponed': ({ retryMs, running }) => [
    'warn',
    `Jobs whose last run vanished must wait: ${running} jobs run here. Tried again in ${retryMs} ms.`,
  ],
};

/**
 * LoggingReporter writes events as log lines: never a payload, and what an error says at warn and above only (R8).
 *
 * What goes well, of a job or of the traffic (a claim, a renewal, an intake), is a debug line: nothing is written per job at info (M5).
 */
export class LoggingReporter extends Reporter {
  constructor(private readonly sink: LogSink) {
    super();
  }

  override report(event: RunnerEvent): void {
    const line = LINES[event.type] as (event: RunnerEvent) => readonly [LogLevel, string];
    const [level, message] = line(event);
    const { type, ...all } = event;
    const quiet = level === 'info' || level === 'debug';
    // What an error says may be what a user wrote.
    const fields = { event: type, ...all, ...(quiet && 'error' in all ? { error: undefined } : {}) };
    this.sink(level, message, 'run' in all ? { ...fields, ...jobFields(all) } : fields);
  }
}

function jobFields({ run }: Pick<JobEvent, 'run'>): Record<string, unknown> {
  return { attempt: run.attempt, jobId: run.id, kind: run.kind, run: undefined, tenantId: run.tenantId ?? undefined };
}

function nameOf({ run }: Pick<JobEvent, 'run'>): string {
  return `Job ${run.id} (${run.kind}, attempt ${run.attempt})`;
}
