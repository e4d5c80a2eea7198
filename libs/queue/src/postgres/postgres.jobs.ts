import { type ControlConnections, parseDuration, type SchemaName, type Statement } from '@holdfast/kernel';
import type { CancelAnswer, CancelOptions } from '../domain/cancel.answer.js';
import { JobState, jobStateName, type JobStateName } from '../domain/job-state.js';
import type {
  JobPage,
  JobPayload,
  ListOptions,
  PausedKind,
  PurgeFilter,
  PurgeResult,
  RedactPayload,
  RequeueAnswer,
  RequeueFilter,
  RequeueResult,
} from '../domain/job.listing.js';
import type { JobStatus } from '../domain/job.status.js';
import { checkFilter, checkKind, FIRST_KIND, LAST_KIND, limitOf } from '../domain/listing.check.js';
import { InvalidFilterError } from '../errors/invalid-filter.error.js';
import { JobBusyError } from '../errors/job-busy.error.js';
import { JobNotFoundError } from '../errors/job-not-found.error.js';
import { JobStateError } from '../errors/job-state.error.js';
import { KeyTakenError } from '../errors/key-taken.error.js';
import { PayloadHiddenError } from '../errors/payload-hidden.error.js';
import { Jobs } from '../ports/jobs.js';
import { cancelById } from './cancelling.js';
import { isJobId } from './job.id.js';
import { JobLister, LIST_OPTIONS } from './job.lister.js';
import { JobOperator } from './job.operator.js';
import { jobStatusOf } from './job.status.row.js';
import { namingMissingTables } from './missing.tables.js';
import { findJob } from './sql/find-job.sql.js';
import { listPausedKinds } from './sql/list-paused-kinds.sql.js';
import { pauseKind } from './sql/pause-kind.sql.js';
import { readPayload } from './sql/read-payload.sql.js';
import { resumeKind } from './sql/resume-kind.sql.js';

/** PostgresJobsOptions are what jobs for people and routes take besides their connections. */
export interface PostgresJobsOptions {
  /** changed is called when jobs of this database may have become due: a runner in this process looks soon. Default nobody. */
  readonly changed?: (() => void) | undefined;
  /** redactPayload says what operators may see of payloads. Default none: payloads are not shown. */
  readonly redactPayload?: RedactPayload | undefined;
}

const MOST_IDS = 1_000;
const MOST_PURGED = 10_000;
const DEFAULT_PURGED = 1_000;
/** A payload beyond it is not read for people. */
const SHOWN_BYTES = 1_048_576;
const REQUEUABLE: readonly JobStateName[] = ['FAILED', 'DEAD_LETTER', 'CANCELLED'];
const FINAL: readonly JobStateName[] = ['SUCCEEDED', ...REQUEUABLE];
const PURGE_OPTIONS = ['kind', 'limit', 'olderThan', 'state', 'tenantId'];

/** PostgresJobs shows and changes jobs for people and routes on the queue's own connections, so that a busy pool keeps nobody waiting. */
export class PostgresJobs extends Jobs {
  private readonly lister: JobLister;
  private readonly operator: JobOperator;

  constructor(
    private readonly connections: ControlConnections,
    private readonly schema: SchemaName,
    private readonly options: PostgresJobsOptions = {},
  ) {
    super();
    this.lister = new JobLister(connections, schema);
    this.operator = new JobOperator(connections, schema);
  }

  override async delete(id: string): Promise<string> {
    if (!isJobId(id)) throw new JobNotFoundError(id);
    const { answer, job_id: jobId, state } = await this.operator.delete(id);
    return this.done(id, answer, jobId, state, ['PENDING', ...FINAL]);
  }

  override cancel(id: string, options?: CancelOptions): Promise<CancelAnswer> {
    return cancelById(this.connections, this.schema, id, options);
  }

  override async find(id: string): Promise<JobStatus | undefined> {
    if (!isJobId(id)) return undefined;
    const [row] = await this.run(findJob, { id });
    return row && jobStatusOf(row);
  }

  override list(options: ListOptions = {}): Promise<JobPage> {
    return this.lister.list(options);
  }

  override async pauseKind(kind: string): Promise<boolean> {
    checkKind(kind);
    return (await this.run(pauseKind, { kind })).length > 0;
  }

  override async pausedKinds(): Promise<PausedKind[]> {
    const rows = await this.run(listPausedKinds, {});
    return rows.map(({ kind, paused_at: pausedAt }) => ({ kind, pausedAt: new Date(pausedAt) }));
  }

  override async payload(id: string): Promise<JobPayload> {
    const { redactPayload } = this.options;
    if (!redactPayload) throw new PayloadHiddenError();
    const [row] = isJobId(id) ? await this.run(readPayload, { id, maxBytes: SHOWN_BYTES }) : [];
    if (!row) throw new JobNotFoundError(id);
    const { bytes, kind, payload: text, payload_version: version, tenant_id: tenantId } = row;
    const job = { id: row.id, kind, tenantId, version };
    const payload = text === null ? undefined : redactPayload(job, JSON.parse(text));
    return { bytes, id: row.id, kind, payload, tooLarge: text === null, version };
  }

  override async purge(filter: PurgeFilter): Promise<PurgeResult> {
    checkFilter(filter, PURGE_OPTIONS, FINAL);
    const limit = limitOf(filter.limit, DEFAULT_PURGED, MOST_PURGED);
    const { kind, state, tenantId = null } = filter;
    const params = { firstKind: kind ?? FIRST_KIND, lastKind: kind ?? LAST_KIND, state: JobState[state], tenantId };
    const deleted = await this.operator.purge({ ...params, olderThanMs: olderThanOf(filter) }, limit);
    return { deleted, more: deleted >= limit };
  }

  override async requeue(id: string): Promise<string> {
    const [answer] = await this.requeueMany([id]);
    if (answer!.disposition === 'key_taken') throw new KeyTakenError(answer!.id, answer!.liveJobId);
    const jobId = answer!.disposition === 'not_found' ? null : answer!.id;
    const state = answer!.disposition === 'wrong_state' ? JobState[answer!.state] : JobState.PENDING;
    return this.done(id, answer!.disposition, jobId, state, REQUEUABLE);
  }

  override async requeueMany(ids: readonly string[]): Promise<RequeueAnswer[]> {
    if (!Array.isArray(ids) || ids.length > MOST_IDS)
      throw new InvalidFilterError('ids', `must be a list of at most ${MOST_IDS}`);
    const answers = await this.operator.requeue(ids);
    if (answers.some(({ disposition }) => disposition === 'requeued')) this.options.changed?.();
    return answers;
  }

  override async requeueMatching(filter: RequeueFilter): Promise<RequeueResult> {
    checkFilter(filter, LIST_OPTIONS, REQUEUABLE);
    const { cursor, jobs } = await this.lister.list(filter);
    const answers = await this.requeueMany(jobs.map(({ id }) => id));
    const requeued: string[] = [];
    const refused: RequeueResult['refused'][number][] = [];
    for (const answer of answers) {
      if (answer.disposition === 'requeued') requeued.push(answer.id);
      else refused.push(answer);
    }
    return { cursor, refused, requeued };
  }

  override async resumeKind(kind: string): Promise<boolean> {
    checkKind(kind);
    const resumed = (await this.run(resumeKind, { kind })).length > 0;
    if (resumed) this.options.changed?.();
    return resumed;
  }

  override async runNow(id: string): Promise<string> {
    if (!isJobId(id)) throw new JobNotFoundError(id);
    const { answer, job_id: jobId, state } = await this.operator.runNow(id);
    const done = this.done(id, answer, jobId, state, ['PENDING']);
    this.options.changed?.();
    return done;
  }

  /** done answers the id of a job that was changed; what kept it from being changed is thrown. */
  private done(
    asked: string,
    answer: string,
    jobId: string | null,
    state: number,
    allowed: readonly JobStateName[],
  ): string {
    if (jobId === null) throw new JobNotFoundError(asked);
    if (answer === 'busy') throw new JobBusyError(jobId);
    if (answer === 'wrong_state') throw new JobStateError(jobId, jobStateName(state), allowed);
    return jobId;
  }

  private async run<Params, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row[]> {
    const sent = this.connections.run<Params, Row>(statement, this.schema, params);
    return (await namingMissingTables(this.schema, sent)).rows;
  }
}

function olderThanOf({ olderThan }: PurgeFilter): number {
  try {
    return parseDuration(olderThan);
  } catch {
    throw new InvalidFilterError('olderThan', "must be a duration such as '30d'");
  }
}
