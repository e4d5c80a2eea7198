import type { JobStateName } from './job-state.js';

/** CancelOptions narrow what may be cancelled. */
export interface CancelOptions {
  /** tenantId: only a job of this tenant, `null` for those without one; another's is `not_found`. Default: whosever. */
  readonly tenantId?: string | null | undefined;
}

/**
 * CancelAnswer is what became of a request to cancel a job (R16); `id` is the job's, also where the id of a request was given.
 *
 * `cancelled`: it was pending, and is CANCELLED. `requested`: it is running; whoever runs it is told within about a second, and its end is CANCELLED unless
 * a completion gets there first. `final`: it had ended already, as `state` says. `not_found`: there is no such job.
 */
export type CancelAnswer =
  | { readonly disposition: 'cancelled' | 'requested'; readonly id: string }
  | { readonly disposition: 'final'; readonly id: string; readonly state: JobStateName }
  | { readonly disposition: 'not_found' };
