import type { SchedulerEvent } from '../ports/scheduler.events.js';
import { counted, type LinesOf } from './log.line.js';

/** A tick that comes later than this is told: the process was busy, or the database slow. */
const LATE_MS = 1_000;
/** A transaction that is older than this is told at each look: claims walk over what vacuum may not remove. */
const OLD_TRANSACTION_MS = 300_000;
/** The code of a duty that the stop of its process has ended: that is no fault of its own. */
const STOPPED = 'queue.duty_stopped';

/** SCHEDULER_LINES are what the log says of a scheduler's events. */
export const SCHEDULER_LINES: LinesOf<SchedulerEvent> = {
  'duty.done': ({ name, ranMs }) => ['debug', `The duty ${name} is done, in ${Math.round(ranMs)} ms.`],
  'duty.failed': ({ code, failures, name, retryMs }) =>
    code === STOPPED
      ? ['info', `The duty ${name} was ended by the stop of its process; it is due at once.`]
      : [
          failures === 1 ? 'warn' : 'error',
          `The duty ${name} failed (${failures} in a row): ${code}. Due again in ${retryMs} ms.`,
        ],
  'duty.overrun': ({ name, overMs, returned }) => [
    'warn',
    returned
      ? `The duty ${name} returned ${Math.round(overMs)} ms after it was told to stop.`
      : `The duty ${name} goes on ${Math.round(overMs)} ms after it was told to stop; it is not started again before it returns.`,
  ],
  'duty.started': ({ name }) => ['debug', `The duty ${name} started.`],
  'duty.unrecorded': ({ name }) => ['warn', `How the duty ${name} ended could not be recorded.`],
  'kinds.unhandled': ({ kinds }) =>
    kinds.length > 0
      ? ['warn', `Jobs wait for kinds that no live process handles: ${kinds.join(', ')}.`]
      : ['info', 'Every kind with jobs has a process that handles it again.'],
  'leader.elected': ({ name }) => ['info', `This process is the leader of ${name}.`],
  'leader.lost': ({ name }) => ['warn', `This process is no longer the leader of ${name}.`],
  'leader.refused': ({ error, name }) => ['error', `This process cannot stand for ${name}: ${error.message}`],
  'leader.released': ({ name }) => ['info', `This process has given up being the leader of ${name}.`],
  'postgres.health': ({ health: { oldestTransaction: oldest } }) =>
    oldest === undefined || oldest.ageMs < OLD_TRANSACTION_MS
      ? undefined
      : [
          'warn',
          `A transaction has been open for ${Math.round(oldest.ageMs / 60_000)} minutes and keeps vacuum from dead rows: ${oldest.holder}.`,
        ],
  'queue.depth': () => undefined,
  'queue.depth_cleared': () => undefined,
  'retention.swept': ({ kind, more, removed, state }) => [
    'debug',
    `Removed ${counted(removed, 'job')} of ${kind} that had been ${state} for long enough${more ? '; more are to go' : ''}.`,
  ],
  'scheduler.failed': ({ delayMs, failures, stage }) => [
    'warn',
    `The scheduler's ${stage} failed (${failures} in a row); again in ${delayMs} ms.`,
  ],
  'scheduler.recovered': ({ failures, stage }) => [
    'info',
    `The scheduler's ${stage} works again after ${counted(failures, 'failure')}.`,
  ],
  'scheduler.started': ({ connections, duties, tickMs, warnings }) => {
    const held = connections.map((role) => `${role.role} ${role.connections}`).join(', ');
    const line = `Scheduling ${counted(duties.length, 'duty', 'duties')} every ${tickMs} ms where this process leads. Connections: ${held || 'none'}.`;
    return [warnings.length > 0 ? 'warn' : 'info', [line, ...warnings].join(' ')];
  },
  'scheduler.stopped': ({ abandoned }) =>
    abandoned.length === 0
      ? ['info', 'The scheduler has stopped.']
      : ['warn', `The scheduler has stopped; duties that never returned: ${abandoned.join(', ')}.`],
  'scheduler.tick': ({ lagMs }) =>
    lagMs < LATE_MS ? undefined : ['warn', `The scheduler's tick came ${Math.round(lagMs)} ms late.`],
};
