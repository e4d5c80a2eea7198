import type { FailureRecord } from './failure.js';
import type { RefusalParams } from './refusal.js';

/** Completion is a settlement that commits together with the handler's writes. */
export type Completion =
  | { readonly verb: 'complete'; readonly outcome: string | null }
  /** repeat: PENDING again after the delay, attempts 0, failures and deferral cleared (R11). */
  | { readonly verb: 'repeat'; readonly delayMs: number; readonly outcome: string | null };

/** Conclusion is a settlement that is recorded after the handler's writes were rolled back, in a transaction of its own (R5). */
export type Conclusion =
  /** retry: PENDING after the delay, the attempt stays spent; the outage is over, unless `outage` says that it goes on and has lasted longer than it may (R10). */
  | { readonly verb: 'retry'; readonly delayMs: number; readonly failure: FailureRecord; readonly outage?: true }
  /** defer: PENDING after the delay, the attempt given back, the outage's first moment kept or set (R10). */
  | { readonly verb: 'defer'; readonly delayMs: number; readonly failure: FailureRecord }
  /** lose: the connection was lost in mid-run: as defer, and counted; the third in a row is the last free one (R5). */
  | { readonly verb: 'lose'; readonly delayMs: number; readonly failure: FailureRecord }
  /** refuse: FAILED with code and params (R12). */
  | { readonly verb: 'refuse'; readonly code: string; readonly params: RefusalParams | null }
  /** bury: DEAD_LETTER. */
  | { readonly verb: 'bury'; readonly failure: FailureRecord }
  /** cancel: CANCELLED, asked for while it ran (R16). Any other conclusion becomes one where the job was asked to be cancelled, and so does a repetition. */
  | { readonly verb: 'cancel' }
  /** giveBack: PENDING as before the claim, the attempt given back: it never started, or was stopped by a shutdown. */
  | { readonly verb: 'giveBack' };

/** Settlement ends an attempt; each verb is one transition of the store. */
export type Settlement = Completion | Conclusion;
