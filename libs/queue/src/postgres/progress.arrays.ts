import type { LeasedProgress } from '../ports/job-store.js';
import { byJobId } from './job.id.js';
import type { ReportParams } from './sql/report-progress.sql.js';

/** progressArrays answers reports as parallel arrays, in the order of ids. */
export function progressArrays(reports: readonly LeasedProgress[]): ReportParams {
  const byId = [...reports].sort((one, other) => byJobId(one.lease.jobId, other.lease.jobId));
  return {
    fractions: byId.map(({ fraction }) => fraction),
    ids: byId.map(({ lease }) => lease.jobId),
    tokens: byId.map(({ lease }) => lease.token),
  };
}
