import { Statement } from '@holdfast/kernel';
import { DUE } from './enqueue-jobs.sql.js';

/** EnqueueJobParams are one request without a key. */
export interface EnqueueJobParams {
  readonly dueAt: string | null;
  readonly dueInMs: number | null;
  readonly kind: string;
  readonly maxAttempts: number | null;
  readonly payloadJson: string;
  readonly payloadVersion: number;
  readonly priority: number;
  readonly tenantId: string | null;
}

/**
 * Inserts one job without a key: the plain form of enqueue-jobs, for the most frequent call (Q1).
 *
 * Locks: none but the new row. Index: none is read. Fence: none.
 */
export const enqueueJob = new Statement<EnqueueJobParams, { id: string }>({
  name: 'enqueue-job',
  text: (schema) => `
INSERT INTO ${schema.of('job')} (kind, tenant_id, priority, due_at, max_attempts, payload, payload_version)
  VALUES ($1::text, $2::text, $3::smallint, ${DUE('$4::bigint', '$5::timestamptz')}, $6::integer, $7::json, $8::smallint)
  RETURNING id::text AS id`,
  values: (p) => [p.kind, p.tenantId, p.priority, p.dueInMs, p.dueAt, p.maxAttempts, p.payloadJson, p.payloadVersion],
});
