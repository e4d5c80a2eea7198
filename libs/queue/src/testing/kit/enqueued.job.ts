import type { SchemaName, SqlExecutor } from '@holdfast/kernel';
import { type JobStateName, jobStateName } from '../../domain/job-state.js';
import type { EnqueuedRow } from '../../postgres/sql/list-enqueued.sql.js';
import { listEnqueued } from '../../postgres/sql/list-enqueued.sql.js';

/** EnqueuedJob is a job, or a request that is no job yet, as a test looks at it. */
export interface EnqueuedJob {
  readonly dedupeKey: string | null;
  readonly dueAt: Date;
  readonly id: string;
  readonly kind: string;
  /** payload is what is stored: before `codec.decode`, upcasts and the schema. */
  readonly payload: unknown;
  readonly payloadVersion: number;
  readonly priority: number;
  readonly state: JobStateName;
  readonly tenantId: string | null;
}

/** The most jobs that are looked at: a test has fewer. */
const LIMIT = 1_000;

/** enqueuedJobs answers what an executor sees of the jobs of a kind (undefined: any) above an id, the oldest first; a thousand at most. */
export async function enqueuedJobs(
  executor: SqlExecutor,
  schema: SchemaName,
  { afterId = '0', kind }: { readonly afterId?: string; readonly kind?: string } = {},
): Promise<EnqueuedJob[]> {
  const { rows } = await listEnqueued.run(executor, schema, { afterId, kind: kind ?? null, limit: LIMIT });
  return rows.map(enqueuedJob);
}

function enqueuedJob(row: EnqueuedRow): EnqueuedJob {
  return {
    dedupeKey: row.dedupe_key,
    dueAt: new Date(Number(row.due_ms)),
    id: row.id,
    kind: row.kind,
    payload: JSON.parse(row.payload) as unknown,
    payloadVersion: row.payload_version,
    priority: row.priority,
    state: jobStateName(row.state),
    tenantId: row.tenant_id,
  };
}
