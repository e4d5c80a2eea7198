import { defineJob, type } from '@holdfast/queue/define';

/** SoakPayload names what a job is for: `tag` is its request's own; jobs with a key have the key in it. */
export interface SoakPayload {
  readonly tag: string;
}

/** The faults must not use up the attempts of a job: what ends as a dead letter would not be lost, but nor would it be done. */
const common = {
  backoff: { delays: ['200ms', '500ms', '1s'] },
  maxAttempts: 100,
  payload: type<SoakPayload>(),
  timeout: '2s',
} as const;

export const Plain = defineJob('soak.plain', common);
/** Grouped jobs share a transaction with others. */
export const Grouped = defineJob('soak.grouped', { ...common, groupCommit: { delay: '5ms', size: 16 } });
/** Flaky writes and then throws, at its first attempt. */
export const Flaky = defineJob('soak.flaky', common);
/** Deferred says now and then that the other side was not reached. */
export const Deferred = defineJob('soak.deferred', common);
/** Slow outlasts its timeout, at its first attempt. */
export const Slow = defineJob('soak.slow', { ...common, timeout: '500ms' });
/** Refused writes and then refuses. */
export const Refused = defineJob('soak.refused', common);
/** Dead writes and then fails for good. */
export const Dead = defineJob('soak.dead', common);
/** Outside is detached: it tells a receiver outside its transaction, then finishes. */
export const Outside = defineJob('soak.outside', { ...common, timeout: '4s' });
export const Merged = defineJob('soak.merged', common);
export const Rerun = defineJob('soak.rerun', { ...common, whenRunning: 'rerun' });
export const Poller = defineJob('soak.poller', { ...common, maxAttempts: 'unlimited' });

/** ONCE are the kinds whose every committed request must leave one effect; NEVER those that must leave none; KEYED those that cover requests of a key. */
export const ONCE = [Plain, Grouped, Flaky, Deferred, Slow, Outside] as const;
export const NEVER = [Refused, Dead] as const;
export const KEYED = [Merged, Rerun] as const;
export const POLLERS = ['poller-1', 'poller-2', 'poller-3'] as const;
