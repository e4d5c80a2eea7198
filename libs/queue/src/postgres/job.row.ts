import type { Lease } from '../domain/lease.js';
import type { ClaimedJob } from '../ports/job-store.js';

/** JobRow is what a claim answers of a row of `job`. */
export interface JobRow {
  readonly attempt: number;
  readonly created_ms: number;
  readonly deferred_ms: number | null;
  readonly due_ms: number;
  /** due_text is the moment with its microseconds, for the statements alone (K11). */
  readonly due_text: string;
  readonly id: string;
  readonly kind: string;
  readonly losses: number;
  readonly max_attempts: number | null;
  readonly payload: string;
  readonly payload_version: number;
  readonly priority: number;
  readonly suspect: boolean;
  readonly tenant_id: string | null;
  readonly waited_ms: number;
}

/** claimedJob makes the job of a claimed row. */
export function claimedJob(row: JobRow, token: string, leaseMs: number): ClaimedJob {
  const lease: Lease = { jobId: row.id, token };
  return {
    attempt: row.attempt,
    createdAt: new Date(Number(row.created_ms)),
    deferredMs: row.deferred_ms === null ? null : Math.max(0, Number(row.deferred_ms)),
    dueAt: new Date(Number(row.due_ms)),
    id: row.id,
    kind: row.kind,
    lease,
    leaseMs,
    losses: row.losses,
    maxAttempts: row.max_attempts,
    payload: JSON.parse(row.payload) as unknown,
    payloadVersion: row.payload_version,
    priority: row.priority,
    suspect: row.suspect,
    tenantId: row.tenant_id,
    waitedMs: Number(row.waited_ms),
  };
}
