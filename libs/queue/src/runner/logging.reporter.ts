import { Reporter } from '../ports/reporter.js';
import type { EventOf, JobEvent, RunnerEvent } from '../ports/runner.events.js';

/** LogLevel is how much a line matters. */
export type LogLevel = 'debug' | 'error' | 'info' | 'warn';

/** LogSink takes one line with its fields; Nest's logger, pino and the console are each a line away from it. */
export type LogSink = (level: LogLevel, message: string, fields: Readonly<Record<string, unknown>>) => void;

type Lines = {
  readonly [T in RunnerEvent['type']]: (event: EventOf<T>) => readonly [level: LogLevel, message: string] | undefined;
};

/** How many jobs a line names. */
const NAMED = 10;

const LINES: Lines = {
  // A claim that found nothing says nothing: an idle process makes one every poll.
  'claim.answered': ({ asked, got }) => (got === 0 ? undefined : ['debug', `Claimed ${got} of ${asked}.`]),
  'claim.given_back': ({ jobs }) => ['warn', `The answer to a claim was lost; ${counted(jobs, 'job')} given back.`],
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
  'lease.renewal_failed': ({ leases }) => [
    'warn',
    `${counted(leases, 'lease')} could not be renewed; tried again shortly.`,
  ],
  'lease.renewed': ({ leases }) => ['debug', `${counted(leases, 'lease')} renewed.`],
  'loop.failed': ({ delayMs, failures, stage }) => [
    failures === 1 ? 'warn' : 'error',
    `The runner's ${stage} failed (${failures} in a row); again in ${delayMs} ms.`,
  ],
  'loop.recovered': ({ failures, stage }) => [
    'info',
    `The runner's ${stage} works again after ${counted(failures, 'failure')}.`,
  ],
  'process.blocked': ({ blockedMs }) => [
    'warn',
    `The event loop was blocked for ${Math.round(blockedMs)} ms: renewals and timeouts were late by as much.`,
  ],
  'reap.done': ({ result: { deadLettered, returned } }) =>
    deadLettered.length > 0
      ? ['error', `Vanished in the last attempt, dead letters now: ${listed(deadLettered)}.`]
      : ['warn', `Taken back from leases that ran out: ${listed(returned)}. Each runs alone next.`],
  'runner.drained': ({ abandoned, givenBack }) => [
    abandoned > 0 ? 'warn' : 'info',
    givenBack + abandoned === 0
      ? 'Drained.'
      : `Drained: ${counted(givenBack, 'job')} given back, ${counted(abandoned, 'handler')} never returned.`,
  ],
  'runner.draining': ({ graceMs, running }) => [
    'info',
    running === 0
      ? 'Draining: nothing runs.'
      : `Draining: ${counted(running, 'running job')}, at most ${graceMs} ms to end.`,
  ],
  'runner.started': ({ connections, kinds, slots, warnings }) => {
    const held = connections.map((role) => `${role.role} ${role.connections}`).join(', ');
    const line = [
      `Running ${counted(kinds.length, 'kind')} on ${counted(slots, 'slot')}. Connections: ${held}.`,
      ...warnings,
    ].join(' ');
    return [warnings.length > 0 ? 'warn' : 'info', line];
  },
  'runner.stopped': () => ['info', 'The runner has stopped.'],
  'suspects.awaited': ({ due, running }) => [
    'info',
    `Due, and vanished in their last run: ${counted(due, 'job')}. What runs here (${running}) ends first, then each runs alone.`,
  ],
  'suspects.postponed': ({ retryMs, running }) => [
    'warn',
    `Jobs whose last run vanished must wait: ${counted(running, 'job')} still running here. Tried again in ${retryMs} ms.`,
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
    const line = LINES[event.type] as (event: RunnerEvent) => readonly [LogLevel, string] | undefined;
    const said = line(event);
    if (!said) return;
    const [level, message] = said;
    const { type, ...all } = event;
    const quiet = level === 'info' || level === 'debug';
    // What an error says may be what a user wrote.
    const fields = { event: type, ...all, ...(quiet && 'error' in all ? { error: undefined } : {}) };
    this.sink(level, message, tidied('run' in all ? { ...fields, ...jobFields(all) } : fields));
  }
}

function jobFields({ run }: Pick<JobEvent, 'run'>): Record<string, unknown> {
  return { attempt: run.attempt, jobId: run.id, kind: run.kind, run: undefined, tenantId: run.tenantId ?? undefined };
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** The first few by id and kind; all of them are in the fields. */
function listed(jobs: readonly { readonly id: string; readonly kind: string }[]): string {
  const named = jobs.slice(0, NAMED).map(({ id, kind }) => `${id} (${kind})`);
  const others = jobs.length - named.length;
  return `${counted(jobs.length, 'job')}, ${named.join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
}

/** tidied leaves out what is undefined and rounds how long something took. */
function tidied(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    kept.map(([name, value]) => [name, typeof value === 'number' && name.endsWith('Ms') ? Math.round(value) : value]),
  );
}

function nameOf({ run }: Pick<JobEvent, 'run'>): string {
  return `Job ${run.id} (${run.kind}, attempt ${run.attempt})`;
}
