import { type ControlConnections, pause, type SchemaName, type Statement } from '@holdfast/kernel';
import { JobState, jobStateName } from '../domain/job-state.js';
import type { RequeueAnswer } from '../domain/job.listing.js';
import { byJobId, isJobId } from './job.id.js';
import { namingMissingTables } from './missing.tables.js';
import { type DeletedRow, deleteJobs, type DeleteJobsParams } from './sql/delete-jobs.sql.js';
import { findFinished, type FindFinishedParams } from './sql/find-finished.sql.js';
import { type RequeuedRow, requeueJobs } from './sql/requeue-jobs.sql.js';
import { type DueRow, runJobNow } from './sql/run-job-now.sql.js';

/** The most jobs of one transaction: each may take a slot of the server's lock table, which all sessions share. */
const BATCH = 100;
const PURGE_BATCH = 200;
/** How long what others hold is tried again, and the first and the longest wait in between. */
const PATIENCE_MS = 2_000;
const FIRST_WAIT_MS = 10;
const LONGEST_WAIT_MS = 100;

/** DELETABLE are the states of jobs that may be removed one by one. */
const DELETABLE = [JobState.PENDING, JobState.SUCCEEDED, JobState.FAILED, JobState.DEAD_LETTER, JobState.CANCELLED];

/** Patience is short: nothing ends it early. */
const NEVER = new AbortController().signal;

/** What the functions of operators answer in common: a busy job is asked for again. */
interface OperatedRow {
  readonly answer: string;
  readonly asked_id: string;
}

/**
 * JobOperator makes the writes of operators (A1).
 *
 * The functions behind them wait for nobody: what somebody holds they answer as busy. It is tried again here, where nothing is held meanwhile, so that
 * no two operators can wait for each other, and a claim, an intake or a settlement in that moment is none of their concern (K132).
 */
export class JobOperator {
  constructor(
    private readonly connections: ControlConnections,
    private readonly schema: SchemaName,
  ) {}

  /** delete removes a job that is pending or has ended. */
  async delete(id: string): Promise<DeletedRow> {
    const rows = await this.inBatches([id], (ids) =>
      this.run<DeleteJobsParams, DeletedRow>(deleteJobs, { finishedBeforeUs: null, ids, states: DELETABLE }),
    );
    return rows[0]!;
  }

  /** purge removes jobs that have ended long enough ago, the first to end first, and answers how many. What somebody holds is left. */
  async purge(params: Omit<FindFinishedParams, 'limit'>, limit: number): Promise<number> {
    let deleted = 0;
    while (deleted < limit) {
      const found = await this.run(findFinished, { ...params, limit: Math.min(PURGE_BATCH, limit - deleted) });
      const ids = found.map(({ id }) => id);
      const finishedBeforeUs = found[0]?.before_us ?? null;
      const rows = await this.run<DeleteJobsParams, DeletedRow>(deleteJobs, {
        finishedBeforeUs,
        ids,
        states: [params.state],
      });
      const gone = rows.filter(({ answer }) => answer === 'deleted').length;
      deleted += gone;
      if (gone === 0) break;
    }
    return deleted;
  }

  /** requeue answers what became of each id, in their order. */
  async requeue(ids: readonly string[]): Promise<RequeueAnswer[]> {
    const rows = await this.inBatches(ids.filter(isJobId), (batch) => this.run(requeueJobs, { ids: batch }));
    const byId = new Map(rows.map((row) => [row.asked_id, row]));
    return ids.map((asked) => requeueAnswer(asked, byId.get(asked)));
  }

  /** runNow makes a pending job due. */
  async runNow(id: string): Promise<DueRow> {
    const rows = await this.inBatches([id], async ([one]) => {
      const due = await this.run(runJobNow, { id: one! });
      return due.map((row) => ({ ...row, asked_id: one! }));
    });
    return rows[0]!;
  }

  /** inBatches sends the ids in small transactions, and those that were busy again until they are not, or patience is over. */
  private async inBatches<Row extends OperatedRow>(
    ids: readonly string[],
    send: (batch: readonly string[]) => Promise<Row[]>,
  ): Promise<Row[]> {
    const sorted = [...new Set(ids)].sort(byJobId);
    const done: Row[] = [];
    for (let at = 0; at < sorted.length; at += BATCH) done.push(...(await send(sorted.slice(at, at + BATCH))));
    const endsAt = performance.now() + PATIENCE_MS;
    let waitMs = FIRST_WAIT_MS;
    for (;;) {
      const busy = done.filter(({ answer }) => answer === 'busy').map((row) => row.asked_id);
      if (busy.length === 0 || performance.now() >= endsAt) return done;
      await pause(waitMs, NEVER);
      waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2);
      for (let at = 0; at < busy.length; at += BATCH) {
        for (const row of await send(busy.slice(at, at + BATCH)))
          done[done.findIndex(({ asked_id: asked }) => asked === row.asked_id)] = row;
      }
    }
  }

  private async run<Params, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row[]> {
    const sent = this.connections.run<Params, Row>(statement, this.schema, params);
    return (await namingMissingTables(this.schema, sent)).rows;
  }
}

function requeueAnswer(asked: string, row: RequeuedRow | undefined): RequeueAnswer {
  if (!row?.job_id || row.answer === 'not_found') return { asked, disposition: 'not_found' };
  const { answer, job_id: id } = row;
  if (answer === 'key_taken') return { asked, disposition: answer, id, liveJobId: row.live_id! };
  if (answer === 'wrong_state') return { asked, disposition: answer, id, state: jobStateName(row.state) };
  return { asked, disposition: answer, id };
}
