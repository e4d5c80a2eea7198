import type { AttemptEnded } from './kit.runner.js';

/** DrainedResult is how a run ended, as the events of a runner are named. */
export type DrainedResult =
  | 'cancelled'
  | 'completed'
  | 'dead_lettered'
  | 'deferred'
  | 'given_back'
  | 'lost'
  | 'refused'
  | 'repeated'
  | 'retried'
  | 'unrecorded';

/** DrainedJob is one run of a drain. */
export interface DrainedJob {
  readonly attempt: number;
  /** code of its failure, of its refusal, or of its outcome, where it has one. */
  readonly code: string | null;
  /** error is why it failed; undefined where it did not. */
  readonly error: unknown;
  readonly id: string;
  readonly kind: string;
  readonly result: DrainedResult;
  readonly tenantId: string | null;
}

/** drainedJob reads a run from the event that ended it. */
export function drainedJob(event: AttemptEnded): DrainedJob {
  const { attempt, id, kind, tenantId } = event.run;
  const error = 'error' in event ? event.error : undefined;
  const code = 'code' in event ? event.code : 'outcome' in event ? event.outcome : null;
  const repeated = event.type === 'job.completed' && event.verb === 'repeat';
  const result = repeated ? 'repeated' : (event.type.slice('job.'.length) as DrainedResult);
  return { attempt, code, error, id, kind, result, tenantId };
}
