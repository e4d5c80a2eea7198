import { Statement } from '@holdfast/kernel';

/** ReadPayloadParams name a job or a request by any of its ids. */
export interface ReadPayloadParams {
  readonly id: string;
  readonly maxBytes: number;
}

/** PayloadRow is a payload as it is stored; null when it is larger than was asked for. */
export interface PayloadRow {
  readonly bytes: number;
  readonly id: string;
  readonly kind: string;
  readonly payload: string | null;
  readonly payload_version: number;
  readonly tenant_id: string | null;
}

/**
 * Reads the payload of one job, or of a request that is no job yet; the size alone where it is too large (K147).
 *
 * Locks: none. Index: the primary keys of job, job_alias and job_request. Fence: none, it only reads, with one snapshot.
 */
export const readPayload = new Statement<ReadPayloadParams, PayloadRow>({
  name: 'read-payload',
  text: (schema) => {
    const columns = (row: string) =>
      `${row}.id::text AS id, ${row}.kind, ${row}.tenant_id, ${row}.payload_version::int AS payload_version, octet_length(${row}.payload::text) AS bytes,
  CASE WHEN octet_length(${row}.payload::text) <= $2::integer THEN ${row}.payload::text END AS payload`;
    return `
WITH RECURSIVE named (id) AS (
  SELECT $1::bigint
  UNION
  SELECT a.job_id FROM named n CROSS JOIN LATERAL (SELECT a.job_id FROM ${schema.of('job_alias')} a WHERE a.request_id = n.id OFFSET 0) a
)
SELECT ${columns('j')} FROM ${schema.of('job')} j WHERE j.id = ANY (ARRAY(SELECT n.id FROM named n))
UNION ALL
SELECT ${columns('r')} FROM ${schema.of('job_request')} r WHERE r.id = ANY (ARRAY(SELECT n.id FROM named n))
LIMIT 1`;
  },
  values: ({ id, maxBytes }) => [id, maxBytes],
});
