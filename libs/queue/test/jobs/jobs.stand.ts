import { ControlConnections } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import { JobState, type JobStateName } from '../../src/domain/job-state.js';
import type { EncodedRequest } from '../../src/domain/request.js';
import type { PostgresJobStore } from '../../src/postgres/postgres.job-store.js';
import { PostgresJobs, type PostgresJobsOptions } from '../../src/postgres/postgres.jobs.js';
import { postgresStore, SCHEMA } from '../store.harness.js';

/** JOB is the table of jobs. */
export const JOB = SCHEMA.of('job');

/** SeededJob is a job as a test puts it into the table; what is left out has a default that is sound. */
export interface SeededJob {
  readonly attempt?: number;
  readonly dedupeKey?: string;
  readonly dueInS?: number;
  readonly errorCode?: string;
  readonly finishedAgoS?: number;
  readonly kind?: string;
  readonly state: JobStateName;
  readonly tenantId?: string;
}

/** JobsStand is a database with what operators use, and a second process' worth of it. */
export class JobsStand {
  private readonly closing: { close(): Promise<void> }[] = [];

  private constructor(readonly database: TestDatabase) {}

  static async open(): Promise<JobsStand> {
    return new JobsStand(await createTestDatabase());
  }

  async close(): Promise<void> {
    for (const one of this.closing) await one.close();
    await this.database.drop();
  }

  jobs(options: PostgresJobsOptions = {}, max = 4): PostgresJobs {
    const connections = new ControlConnections(
      { connectionString: this.database.url },
      { applicationName: 'operator', deadlineMs: 30_000, max },
    );
    this.closing.push(connections);
    return new PostgresJobs(connections, SCHEMA, options);
  }

  store(): PostgresJobStore {
    const store = postgresStore(this.database);
    this.closing.push(store);
    return store;
  }

  /** seed puts a job into the table and answers its id. */
  async seed(job: SeededJob): Promise<string> {
    const {
      dedupeKey = null,
      dueInS = 0,
      errorCode = null,
      finishedAgoS = 0,
      kind = 'demo.job',
      tenantId = null,
    } = job;
    const state = JobState[job.state];
    const running = job.state === 'RUNNING';
    const attempt = job.attempt ?? (job.state === 'PENDING' ? 0 : 1);
    const [row] = await this.database.adminQuery<{ id: string }>(
      `INSERT INTO ${JOB} (kind, tenant_id, dedupe_key, state, attempt, max_attempts, due_at, error_code, payload, finished_at,
           lease_token, lease_owner, lease_until, claimed_at)
         VALUES ($1, $2, $3, $4::int, $5, 8, now() + $6 * interval '1 second', $7, '{"secret":"s3cret","n":1}',
           CASE WHEN $4::int >= 2 THEN now() - $8 * interval '1 second' END,
           CASE WHEN $9::boolean THEN gen_random_uuid() END, CASE WHEN $9 THEN 'test' END, CASE WHEN $9 THEN now() + interval '1 hour' END,
           CASE WHEN $9 THEN now() END)
         RETURNING id::text`,
      [kind, tenantId, dedupeKey, state, attempt, dueInS, errorCode, finishedAgoS, running],
    );
    return row!.id;
  }
}

/** keyed makes a request with a key, or without one. */
export function keyed(dedupeKey: string | null, changes: Partial<EncodedRequest> = {}): EncodedRequest {
  return {
    dedupeKey,
    dueAt: null,
    dueInMs: null,
    kind: 'demo.job',
    maxAttempts: 8,
    payloadJson: '{}',
    payloadVersion: 1,
    priority: 5,
    replacePayload: false,
    tenantId: null,
    whenRunning: 'merge',
    ...changes,
  };
}
