import { type SqlExecutor, Statement } from '@holdfast/kernel';
import type { EncodedRequest, Enqueued } from '../src/domain/request.js';
import { PostgresJobStore } from '../src/postgres/postgres.job-store.js';
import { keyedRequestArrays } from '../src/postgres/request.arrays.js';
import { DUE } from '../src/postgres/sql/enqueue-jobs.sql.js';
import type { EnqueuedRow, EnqueueKeyedParams } from '../src/postgres/sql/enqueue-keyed-jobs.sql.js';
import { SCHEMA } from './store.harness.js';

/** Every request through the function that SQL has, one row of a statement each. */
const callEnqueue = new Statement<EnqueueKeyedParams, EnqueuedRow>({
  name: 'call-enqueue',
  text: (schema) => `
SELECT e.id::text AS id, e.disposition, e.payload_differs
  FROM unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::bigint[], $6::timestamptz[], $7::integer[], $8::text[], $9::integer[],
      $10::boolean[], $11::boolean[])
      AS r (kind, tenant_id, dedupe_key, priority, due_in_ms, due_at, max_attempts, payload, payload_version, rerun, replace_payload)
    CROSS JOIN LATERAL ${schema.of('enqueue')}(r.kind, r.payload, dedupe_key => r.dedupe_key, due_at => ${DUE('r.due_in_ms', 'r.due_at')},
      priority => r.priority, tenant => r.tenant_id, max_attempts => coalesce(r.max_attempts, -1),
      when_running => CASE WHEN r.rerun THEN 'rerun' END, payload_version => r.payload_version, replace_payload => r.replace_payload) e`,
  values: (p) => [
    p.kinds,
    p.tenantIds,
    p.dedupeKeys,
    p.priorities,
    p.dueInMs,
    p.dueAt,
    p.maxAttempts,
    p.payloads,
    p.payloadVersions,
    p.reruns,
    p.replacePayloads,
  ],
});

/** SqlFaceJobStore is a PostgresJobStore whose jobs are enqueued by \`holdfast.enqueue\`, as SQL callers do (Q9). */
export class SqlFaceJobStore extends PostgresJobStore {
  override async enqueue(request: EncodedRequest, executor: SqlExecutor): Promise<Enqueued> {
    return (await this.enqueueMany([request], executor))[0]!;
  }

  override async enqueueMany(requests: readonly EncodedRequest[], executor: SqlExecutor): Promise<Enqueued[]> {
    const { rows } = await callEnqueue.run(executor, SCHEMA, keyedRequestArrays(requests));
    return rows.map(({ disposition, id, payload_differs: payloadDiffers }) => ({ disposition, id, payloadDiffers }));
  }
}
