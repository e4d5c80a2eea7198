import { Statement } from '@holdfast/kernel';

/** FindMissingKeysParams are keys as parallel arrays. */
export interface FindMissingKeysParams {
  readonly dedupeKeys: readonly (string | null)[];
  readonly kinds: readonly string[];
  readonly tenantIds: readonly (string | null)[];
}

/** MissingKeyRow is the place of a key, counted from 1. */
export interface MissingKeyRow {
  readonly place: number;
}

/**
 * Finds the keys that have neither a live job nor a request that intake will make one of.
 *
 * Locks: none. Index: job_live_keys; the requests, which have none by key and are few, are read once. Fence: none, it only reads.
 */
export const findMissingKeys = new Statement<FindMissingKeysParams, MissingKeyRow>({
  name: 'find-missing-keys',
  text: (schema) => `
SELECT k.place::int AS place
FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS k (kind, tenant_id, dedupe_key, place)
WHERE NOT EXISTS (SELECT FROM ${schema.of('job')} j
    WHERE j.kind = k.kind AND coalesce(j.tenant_id, '') = coalesce(k.tenant_id, '') AND j.dedupe_key = k.dedupe_key
      AND j.state IN (0, 1) AND j.dedupe_key IS NOT NULL)
  AND NOT EXISTS (SELECT FROM ${schema.of('job_request')} r
    WHERE r.kind = k.kind AND coalesce(r.tenant_id, '') = coalesce(k.tenant_id, '') AND r.dedupe_key = k.dedupe_key)
ORDER BY k.place`,
  values: (p) => [p.kinds, p.tenantIds, p.dedupeKeys],
});
