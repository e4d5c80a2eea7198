/** ListenerState tells whether notifications arrive; moments are of the monotonic clock. */
export type ListenerState =
  | { readonly type: 'starting'; readonly since: number }
  /** LISTEN has been proved by a notification of its own. `queueUsage` is how full the server's notification queue was at the last ping, 0 to 1 (K96). */
  | { readonly type: 'listening'; readonly queueUsage?: number; readonly since: number }
  /** Nothing arrives, for `error`; it is tried again. */
  | { readonly type: 'failing'; readonly error: unknown; readonly since: number }
  | { readonly type: 'closed'; readonly since: number };

/** ListenerSubscriber hears of a listener; what it throws is dropped. */
export interface ListenerSubscriber {
  /** listening: its channels are listened to from here on. What was sent before is lost: look. Locks of an earlier session are gone. */
  listening(): void;
  /** lost: nothing arrives any more, until the next `listening`. */
  lost(error: unknown): void;
  notified(channel: string): void;
}

/** ListenerTimings bound everything that a listener waits for. */
export interface ListenerTimings {
  /** deadlineMs bounds the connecting and each statement, a ping included. Default 5 000. */
  readonly deadlineMs: number;
  /** firstDelayMs is the first wait after a loss; it doubles up to `maxDelayMs`. Default 100. */
  readonly firstDelayMs: number;
  /** maxDelayMs is the longest wait before it is tried again. Default 30 000. */
  readonly maxDelayMs: number;
  /** pingEveryMs is how often a session that listens is asked whether it is alive. Default 10 000. */
  readonly pingEveryMs: number;
  /** stableMs is how long a session must have listened for the waits to begin anew: one that is lost again and again is no new beginning. Default 10 000. */
  readonly stableMs: number;
}

/** LISTENER_TIMINGS are the defaults. */
export const LISTENER_TIMINGS: ListenerTimings = {
  deadlineMs: 5_000,
  firstDelayMs: 100,
  maxDelayMs: 30_000,
  pingEveryMs: 10_000,
  stableMs: 10_000,
};
