import { type ControlConnections, type SchemaName, sqlStateOf } from '@holdfast/kernel';
import type { CancelAnswer, CancelOptions } from '../domain/cancel.answer.js';
import { jobStateName } from '../domain/job-state.js';
import { JobBusyError } from '../errors/job-busy.error.js';
import { isJobId } from './job.id.js';
import { namingMissingTables } from './missing.tables.js';
import { cancelJob } from './sql/cancel-job.sql.js';

const LOCK_NOT_AVAILABLE = '55P03';

/** cancelById cancels a job by its id or a request's. Throws JobBusyError. */
export async function cancelById(
  connections: ControlConnections,
  schema: SchemaName,
  id: string,
  { tenantId }: CancelOptions = {},
): Promise<CancelAnswer> {
  if (!isJobId(id)) return { disposition: 'not_found' };
  try {
    const { rows } = await namingMissingTables(schema, connections.run(cancelJob, schema, { id, tenantId }));
    const { answer, id: jobId, state } = rows[0]!;
    if (answer === 'not_found' || jobId === null) return { disposition: 'not_found' };
    if (answer === 'final') return { disposition: answer, id: jobId, state: jobStateName(state!) };
    return { disposition: answer, id: jobId };
  } catch (error) {
    if (sqlStateOf(error) === LOCK_NOT_AVAILABLE) throw new JobBusyError(id, { cause: error });
    throw error;
  }
}
