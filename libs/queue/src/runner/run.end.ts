import type { FailureClass } from '@holdfast/kernel';
import type { Counts } from '../domain/outcome.js';
import type { Completion, Settlement } from '../domain/settlement.js';

/** RunEnd is how an execution ended: what is left is to record it, and to tell it. */
export type RunEnd =
  /** committed together with the handler's writes: nothing is left to record (R1). */
  | { readonly type: 'committed'; readonly completion: Completion; readonly counts: Counts | undefined }
  /** lost: the lease is not ours any more; nothing is recorded (R2). */
  | { readonly type: 'lost'; readonly error: Error }
  /** record: to be recorded in a transaction of its own (R5). */
  | {
      readonly type: 'record';
      readonly counts?: Counts | undefined;
      readonly error?: unknown;
      /** failureClass of an attempt that failed. */
      readonly failureClass?: FailureClass;
      /** reason is why a job is given back. */
      readonly reason?: 'lease_short' | 'shutdown';
      readonly settlement: Settlement;
    };

/** AttemptEnd is a RunEnd, or a serialization failure that may be run again at once (R9). */
export type AttemptEnd = RunEnd | { readonly type: 'rerun'; readonly error: unknown };
