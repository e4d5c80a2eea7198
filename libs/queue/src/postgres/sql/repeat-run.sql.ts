import { Statement } from '@holdfast/kernel';
import type { CompleteRunParams } from './complete-run.sql.js';

/** RepeatRunParams are the parameters of repeat-run. */
export interface RepeatRunParams extends CompleteRunParams {
  readonly delayMs: number;
}

/**
 * Sends a run's job back to PENDING inside the handler's transaction, attempts 0, as the last statement before COMMIT (R11).
 *
 * Locks, index and fence as complete-run.
 */
export const repeatRun = new Statement<RepeatRunParams, never>({
  name: 'repeat-run',
  text: (schema) => `SELECT ${schema.of('repeat_run')}($1::bigint, $2::uuid, $3::bigint, $4::text)`,
  values: (p) => [p.jobId, p.token, p.delayMs, p.outcome],
});
