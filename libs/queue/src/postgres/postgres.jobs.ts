import type { ControlConnections, SchemaName } from '@holdfast/kernel';
import type { JobStatus } from '../domain/job.status.js';
import { Jobs } from '../ports/jobs.js';
import { jobStatusOf } from './job.status.row.js';
import { findJob } from './sql/find-job.sql.js';

const ID = /^[1-9]\d{0,18}$/;
const MAX_ID = 2n ** 63n - 1n;

/** PostgresJobs reads jobs for people and routes on the queue's own connections, so that a busy pool keeps nobody waiting. */
export class PostgresJobs extends Jobs {
  constructor(
    private readonly connections: ControlConnections,
    private readonly schema: SchemaName,
  ) {
    super();
  }

  override async find(id: string): Promise<JobStatus | undefined> {
    if (!ID.test(id) || BigInt(id) > MAX_ID) return undefined;
    const { rows } = await this.connections.run(findJob, this.schema, { id });
    return rows[0] && jobStatusOf(rows[0]);
  }
}
