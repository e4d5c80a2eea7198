import type { JobEvent, RunnerEvent } from '../ports/runner.events.js';
import { counted, type LinesOf } from './log.line.js';

/** How many jobs a line names. */
const NAMED = 10;

/** RUNNER_LINES are what the log says of a runner's events. */
export const RUNNER_LINES: LinesOf<RunnerEvent> = {
  // A claim that found nothing says nothing: an idle process makes one every poll.
  'claim.answered': ({ asked, got }) => (got === 0 ? undefined : ['debug', `Claimed ${got} of ${asked}.`]),
  'claim.given_back': ({ jobs }) => ['warn', `The answer to a claim was lost; ${counted(jobs, 'job')} given back.`],
  'group.committed': ({ kind, members, openMs }) => [
    'debug',
    `A group of ${counted(members, 'job')} of ${kind} has committed, after ${Math.round(openMs)} ms.`,
  ],
  'group.rerun': ({ by, kind, members }) => [
    'debug',
    `A group of ${kind} was rolled back${by ? ` at job ${by.id}` : ''}: ${counted(members, 'job')} of it run again one by one.`,
  ],
  'intake.done': ({ result: { created, merged, waiting } }) => [
    'debug',
    `Intake: ${created} created, ${merged} merged, ${waiting} waiting.`,
  ],
  'job.cancelled': (event) => ['info', `${nameOf(event)} was cancelled while it ran.`],
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
  'kind.paused': ({ kind }) => ['info', `The kind ${kind} is paused: nothing of it is claimed, what runs goes on.`],
  'kind.resumed': ({ kind }) => ['info', `The kind ${kind} is no longer paused.`],
  'kinds.unknown': ({ kinds }) => ['warn', `Jobs wait for kinds without a handler here: ${kinds.join(', ')}.`],
  'lease.renewal_failed': ({ leases }) => [
    'warn',
    `${counted(leases, 'lease')} could not be renewed; tried again shortly.`,
  ],
  'lease.renewed': ({ leases }) => ['debug', `${counted(leases, 'lease')} renewed.`],
  'loop.failed': ({ delayMs, failures, stage }) => [
    'warn',
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
  'reap.done': ({ result: { cancelled, deadLettered, returned } }) => {
    if (deadLettered.length > 0)
      return ['error', `Vanished in the last attempt, dead letters now: ${listed(deadLettered)}.`];
    return returned.length > 0
      ? ['warn', `Taken back from leases that ran out: ${listed(returned)}. Each runs alone next.`]
      : ['info', `Cancelled, as was asked: ${listed(cancelled)}.`];
  },
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
  'waking.listening': () => ['info', 'Listening: what others commit is started at once.'],
  'waking.lost': () => [
    'warn',
    `No notifications arrive, so work is looked for by polling until they do; tried again.`,
  ],
};

/** The first few by id and kind; all of them are in the fields. */
function listed(jobs: readonly { readonly id: string; readonly kind: string }[]): string {
  const named = jobs.slice(0, NAMED).map(({ id, kind }) => `${id} (${kind})`);
  const others = jobs.length - named.length;
  return `${counted(jobs.length, 'job')}, ${named.join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
}

function nameOf({ run }: Pick<JobEvent, 'run'>): string {
  return `Job ${run.id} (${run.kind}, attempt ${run.attempt})`;
}
