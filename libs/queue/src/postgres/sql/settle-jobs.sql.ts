import { Statement } from '@holdfast/kernel';
import { KEPT_FAILURES } from '../../domain/failure.js';
import { ENDED, followUps } from './follow-ups.sql.js';

/** SettlementDocument is one settlement as settle-jobs reads it. */
export interface SettlementDocument {
  /** code of the failure or of the refusal. */
  readonly code?: string;
  readonly delay?: number;
  /** failure is appended to the last failures, with the moment. */
  readonly failure?: {
    readonly attempt: number;
    readonly class?: string | undefined;
    readonly code: string;
    readonly message?: string | undefined;
  };
  /** outage: a retry in an outage that goes on. */
  readonly outage?: boolean;
  readonly outcome?: string | null;
  readonly params?: unknown;
  readonly token: string;
  readonly verb: 'complete' | 'repeat' | 'retry' | 'defer' | 'lose' | 'refuse' | 'bury' | 'cancel' | 'giveBack';
}

/** SettleParams name the runs by job; settlements is the text of an object of settlement documents by job id. */
export interface SettleParams {
  readonly ids: readonly string[];
  readonly settlements: string;
}

/** SettledRow is a run that was ended, and whether as CANCELLED. */
export interface SettledRow {
  readonly cancelled: boolean;
  readonly id: string;
}

/** Ten years: a delay beyond it, or below zero, cannot make a timestamp out of range (K57). */
export const MAX_DELAY_MS = 315_360_000_000;
/** The third loss of a connection in a row is the last one that gives the attempt back (R5). */
const FREE_LOSSES = 3;

/**
 * Ends runs by any verb: each row's own transition, from its own settlement.
 *
 * Locks: the rows, in the order of ids. Index: job_pk, by the array; no join. Fence: each row's own token, there only while RUNNING. `verb` is first made plain: a fourth loss in a
 * row spends its attempt as a retry, and a retry without attempts left ends as a dead letter, so that no verb makes a row that cannot be claimed.
 * Every verb but a completion becomes a cancellation where job_cancel has a row of the job (R16), and the row goes with it: it must not meet the job again once somebody
 * requeues it. A request to cancel that commits while this runs is met by reaping.
 * A failure that repeats at the same attempt (an outage) replaces its last record instead of pushing out the others.
 */
export const settleJobs = new Statement<SettleParams, SettledRow>({
  name: 'settle-jobs',
  text: (schema) => `
WITH settled AS (
UPDATE ${schema.of('job')} j
  SET (state, attempt, due_at, finished_at, suspect, losses, deferred_since, outcome, error_code, refusal, failures) = (
      SELECT
        CASE v.verb WHEN 'complete' THEN 2 WHEN 'refuse' THEN 3 WHEN 'bury' THEN 4 WHEN 'cancel' THEN 5 ELSE 0 END,
        CASE WHEN v.verb = 'repeat' THEN 0 WHEN v.verb IN ('defer', 'giveBack') THEN greatest(j.attempt - 1, 0) ELSE j.attempt END,
        CASE WHEN v.verb IN ('repeat', 'retry', 'defer')
          THEN now() + least(greatest(coalesce(d.delay, 0), 0), ${MAX_DELAY_MS}) * interval '1 millisecond' ELSE j.due_at END,
        CASE WHEN v.verb IN ('complete', 'refuse', 'bury', 'cancel') THEN now() END,
        v.verb = 'giveBack' AND j.suspect,
        CASE WHEN v.verb = 'cancel' THEN 0 WHEN d.verb = 'lose' THEN least(j.losses + 1, ${FREE_LOSSES}) WHEN v.verb = 'giveBack' THEN j.losses ELSE 0 END,
        CASE WHEN v.verb = 'defer' THEN coalesce(j.deferred_since, now())
          WHEN v.verb = 'giveBack' OR (v.verb = 'retry' AND d.outage) THEN j.deferred_since END,
        CASE WHEN d.verb IN ('complete', 'repeat') THEN d.outcome ELSE j.outcome END,
        CASE WHEN v.verb IN ('complete', 'repeat') THEN NULL WHEN v.verb IN ('cancel', 'giveBack') THEN coalesce(d.code, j.error_code) ELSE d.code END,
        CASE WHEN v.verb = 'refuse' THEN jsonb_build_object('code', d.code, 'params', d.params)::json END,
        CASE WHEN v.verb = 'repeat' THEN NULL WHEN d.failure IS NULL THEN j.failures
          ELSE (
            SELECT jsonb_agg(f.failure ORDER BY f.place)::json
              FROM (
                SELECT k.failure, k.place
                  FROM (
                    SELECT o.failure, o.place
                      FROM jsonb_array_elements(coalesce(j.failures::jsonb, '[]')) WITH ORDINALITY AS o (failure, place)
                      WHERE o.place < jsonb_array_length(j.failures::jsonb) OR o.failure ->> 'attempt' IS DISTINCT FROM d.failure ->> 'attempt'
                        OR o.failure ->> 'code' IS DISTINCT FROM d.failure ->> 'code'
                    UNION ALL
                    SELECT d.failure || jsonb_build_object('at', now()), 1000
                  ) k ORDER BY k.place DESC LIMIT ${KEPT_FAILURES}
              ) f
          ) END
      FROM jsonb_to_record($2::jsonb -> j.id::text)
          AS d (verb text, delay numeric, code text, outage boolean, outcome text, params jsonb, failure jsonb)
        CROSS JOIN LATERAL (
          SELECT CASE d.verb WHEN 'lose' THEN CASE WHEN j.losses < ${FREE_LOSSES} THEN 'defer' ELSE 'retry' END ELSE d.verb END AS verb
        ) a
        CROSS JOIN LATERAL (
          SELECT CASE WHEN a.verb <> 'complete' AND EXISTS (SELECT FROM ${schema.of('job_cancel')} c WHERE c.job_id = j.id) THEN 'cancel'
            WHEN a.verb = 'retry' AND j.attempt >= j.max_attempts THEN 'bury' ELSE a.verb END AS verb
        ) v
    ),
    lease_token = NULL, lease_owner = NULL, lease_until = NULL
  WHERE j.id = ANY ($1::bigint[]) AND j.lease_token = ($2::jsonb -> j.id::text ->> 'token')::uuid
  RETURNING ${ENDED}
), follow_ups AS (
  ${followUps(schema, 'settled')}
), over AS (
  DELETE FROM ${schema.of('job_cancel')} c WHERE c.job_id = ANY (ARRAY(SELECT s.id FROM settled s WHERE s.state >= 2))
)
SELECT s.id::text AS id, s.state = 5 AS cancelled FROM settled s`,
  values: (p) => [p.ids, p.settlements],
});
