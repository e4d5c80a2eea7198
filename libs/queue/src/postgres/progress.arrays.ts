import type { LeasedProgress } from '../ports/job-store.js';
import type { ReportParams } from './sql/report-progress.sql.js';

/** progressArrays answers reports as parallel arrays, in the order of ids. */
export function progressArrays(reports: readonly LeasedProgress[]): ReportParams {
  const byId = [...reports].sort((one, other) => (BigInt(one.lease.jobId) < BigInt(other.lease.jobId) ? -1 : 1));
  return {
    fractions: byId.map(({ fraction }) => fraction),
    ids: byId.map(({ lease }) => lease.jobId),
    tokens: byId.map(({ lease }) => lease.token),
  };
}
