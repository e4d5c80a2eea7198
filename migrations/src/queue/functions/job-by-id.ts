import type { SchemaName } from '@holdfast/kernel';

/** LOCATED declares what `locateJob` fills in. */
export const LOCATED = `v_id bigint;
  v_key text;
  v_kind text;
  v_next bigint;
  v_state smallint;
  v_tenant text;`;

/** The looks that follow one another until a job or a request is found: an intake may make the one of the other between two statements. */
const LOOKS = 3;

/**
 * locateJob writes how a function finds what an id stands for: a job's own, or one that an enqueue answered.
 *
 * `v_kind` is null where there is nothing; `v_state` is null for a request that is no job yet. Nothing is locked.
 */
export function locateJob(schema: SchemaName, id: string): string {
  return `
    FOR v_look IN 1 .. ${LOOKS} LOOP
      v_id := ${id};
      LOOP
        SELECT a.job_id INTO v_next FROM ${schema.of('job_alias')} a WHERE a.request_id = v_id;
        EXIT WHEN NOT FOUND;
        v_id := v_next;
      END LOOP;
      SELECT j.kind, j.tenant_id, j.dedupe_key, j.state INTO v_kind, v_tenant, v_key, v_state FROM ${schema.of('job')} j WHERE j.id = v_id;
      EXIT WHEN FOUND;
      SELECT r.kind, r.tenant_id, r.dedupe_key, NULL INTO v_kind, v_tenant, v_key, v_state FROM ${schema.of('job_request')} r WHERE r.id = v_id;
      EXIT WHEN FOUND;
    END LOOP;`;
}
