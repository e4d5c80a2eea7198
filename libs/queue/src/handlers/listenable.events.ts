import type { QueueEvent } from '../ports/queue.events.js';

/** ListenableEvent is every event but those about listeners themselves. */
export type ListenableEvent = Exclude<QueueEvent, { readonly type: `listener.${string}` }>;

const NAMES: Readonly<Record<ListenableEvent['type'], true>> = {
  'claim.answered': true,
  'claim.given_back': true,
  'duty.done': true,
  'duty.failed': true,
  'duty.overrun': true,
  'duty.started': true,
  'duty.unrecorded': true,
  'group.committed': true,
  'group.rerun': true,
  'intake.done': true,
  'job.cancelled': true,
  'job.completed': true,
  'job.dead_lettered': true,
  'job.deferred': true,
  'job.enqueued': true,
  'job.given_back': true,
  'job.lost': true,
  'job.overrun': true,
  'job.refused': true,
  'job.rerun': true,
  'job.retried': true,
  'job.started': true,
  'job.threw_after_finish': true,
  'job.unrecorded': true,
  'kind.paused': true,
  'kind.resumed': true,
  'kinds.unhandled': true,
  'kinds.unknown': true,
  'leader.elected': true,
  'leader.lost': true,
  'leader.refused': true,
  'leader.released': true,
  'lease.renewal_failed': true,
  'lease.renewed': true,
  'loop.failed': true,
  'loop.recovered': true,
  'postgres.health': true,
  'process.blocked': true,
  'queue.depth': true,
  'queue.depth_cleared': true,
  'reap.done': true,
  'retention.swept': true,
  'runner.drained': true,
  'runner.draining': true,
  'runner.started': true,
  'runner.stopped': true,
  'scheduler.failed': true,
  'scheduler.recovered': true,
  'scheduler.started': true,
  'scheduler.stopped': true,
  'scheduler.tick': true,
  'suspects.awaited': true,
  'suspects.postponed': true,
  'waking.listening': true,
  'waking.lost': true,
};

/** isListenable tells whether an event has this name: a listener for any other would never be called. */
export function isListenable(name: string): boolean {
  return Object.hasOwn(NAMES, name);
}

/** nearTo answers the names of the events about the same thing, by the first word; all of them where none is. */
export function nearTo(name: string): string[] {
  const all = Object.keys(NAMES);
  const subject = `${name.split('.', 1)[0]}.`;
  const near = all.filter((other) => other.startsWith(subject));
  return near.length > 0 ? near : all;
}
