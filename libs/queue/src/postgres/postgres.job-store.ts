import {
  type ControlConnections,
  type OpenTransaction,
  type SchemaName,
  type SqlExecutor,
  type Statement,
} from '@holdfast/kernel';
import type { CancelAnswer, CancelOptions } from '../domain/cancel.answer.js';
import type { DeclaredEnding } from '../domain/on-end.js';
import type { Lease } from '../domain/lease.js';
import type { EncodedRequest, Enqueued } from '../domain/request.js';
import type { Completion } from '../domain/settlement.js';
import { QueueClosedError } from '../errors/queue-closed.error.js';
import {
  JobStore,
  type ClaimedJob,
  type ClaimOrder,
  type IntakeResult,
  type KindDepth,
  type LeasedCompletion,
  type LeasedProgress,
  type LeasedSettlement,
  type ReapResult,
  type SettleAnswer,
  type Verdict,
} from '../ports/job-store.js';
import { cancelById } from './cancelling.js';
import { claimedJob } from './job.row.js';
import { takeIn } from './intake.pass.js';
import { kindDepth } from './kind-depth.row.js';
import { LowWaterMarks } from './low-water.marks.js';
import { reapResultOf } from './reaped.row.js';
import { keyedRequestArrays, requestArrays, requestParams } from './request.arrays.js';
import { namingMissingTables } from './missing.tables.js';
import { progressArrays } from './progress.arrays.js';
import { PausedKinds } from './paused.kinds.js';
import { RunFences } from './run.fences.js';
import { RunRows } from './run.rows.js';
import { settlementBatches } from './settlement.batch.js';
import { boundedDelay } from './settlement.document.js';
import { verdictOf } from './verdict.row.js';
import { claimJobs } from './sql/claim-jobs.sql.js';
import { claimSuspect } from './sql/claim-suspect.sql.js';
import { countDue } from './sql/count-due.sql.js';
import { countSuspects } from './sql/count-suspects.sql.js';
import { declareEndings } from './sql/declare-endings.sql.js';
import { enqueueJob } from './sql/enqueue-job.sql.js';
import { enqueueJobs } from './sql/enqueue-jobs.sql.js';
import { enqueueKeyedJobs } from './sql/enqueue-keyed-jobs.sql.js';
import { findCancels } from './sql/find-cancels.sql.js';
import { findMissingKeys } from './sql/find-missing-keys.sql.js';
import { findUnknownKinds } from './sql/find-unknown-kinds.sql.js';
import { findWork } from './sql/find-work.sql.js';
import { giveBackClaim } from './sql/give-back-claim.sql.js';
import { intakeRequests } from './sql/intake-requests.sql.js';
import { lockRuns } from './sql/lock-runs.sql.js';
import { lockSeeding } from './sql/lock-seeding.sql.js';
import { markRun } from './sql/mark-run.sql.js';
import { readAttempt } from './sql/read-attempt.sql.js';
import { reapJobs } from './sql/reap-jobs.sql.js';
import { reportProgress } from './sql/report-progress.sql.js';

/** PostgresJobStoreOptions are the connections and the schema of a store. */
export interface PostgresJobStoreOptions {
  /** connections carry all control traffic but renewals. The store closes them. */
  readonly connections: ControlConnections;
  /** keeper carries renewals and holds alone, so that nothing delays them: one connection. The store closes it. */
  readonly keeper: ControlConnections;
  readonly schema: SchemaName;
}

/** PostgresJobStore keeps jobs in PostgreSQL: one statement per verb, on control connections that are READ COMMITTED (Q16). */
export class PostgresJobStore extends JobStore {
  readonly transactions = true;
  private closed = false;
  private readonly control: ControlConnections;
  private readonly fences: RunFences;
  private readonly keeper: ControlConnections;
  private readonly marks = new LowWaterMarks();
  private readonly paused = new PausedKinds();
  private readonly runRows: RunRows;
  private readonly schema: SchemaName;

  constructor({ connections, keeper, schema }: PostgresJobStoreOptions) {
    super();
    this.control = connections;
    this.fences = new RunFences(schema);
    this.keeper = keeper;
    this.schema = schema;
    this.runRows = new RunRows(keeper, schema);
  }

  override get connections(): Readonly<Record<string, number>> {
    return { 'control traffic': this.control.max, 'lease keeper': this.keeper.max };
  }

  override get pausedKinds(): readonly string[] {
    return this.paused.listed;
  }

  override async adopt({ transaction }: OpenTransaction, { token }: Lease): Promise<void> {
    await markRun.run(transaction.sql, this.schema, { token });
  }

  cancel(id: string, options?: CancelOptions): Promise<CancelAnswer> {
    return cancelById(this.control, this.schema, id, options);
  }

  async cancelsOf(leases: readonly Lease[]): Promise<Lease[]> {
    const rows = await this.run(findCancels, { ids: leases.map(({ jobId }) => jobId) });
    return leases.filter(({ jobId }) => rows.some(({ id }) => id === jobId));
  }

  async claim({ fullLook, kinds, limit, owner, token }: ClaimOrder): Promise<ClaimedJob[]> {
    const wanted = this.paused.without(kinds).filter((kind) => kind.limit > 0);
    if (wanted.length === 0 || limit <= 0) return [];
    const names = wanted.map(({ kind }) => kind);
    const rows = await this.run(claimJobs, {
      ...this.marks.of(names, fullLook),
      kinds: names,
      leaseMs: wanted.map(({ leaseMs }) => boundedDelay(leaseMs)),
      limit,
      limits: wanted.map((kind) => kind.limit),
      owner,
      token,
    });
    this.marks.remember(rows);
    const leaseMs = new Map(wanted.map((kind) => [kind.kind, kind.leaseMs]));
    return rows.map((row) => claimedJob(row, token, leaseMs.get(row.kind)!));
  }

  async claimSuspect({ kinds: asked, owner, token }: ClaimOrder): Promise<ClaimedJob | undefined> {
    const kinds = this.paused.without(asked);
    if (kinds.length === 0) return undefined;
    const names = kinds.map(({ kind }) => kind);
    const leases = kinds.map(({ leaseMs }) => boundedDelay(leaseMs));
    const [row] = await this.run(claimSuspect, { kinds: names, leaseMs: leases, owner, token });
    return row && claimedJob(row, token, leases[names.indexOf(row.kind)]!);
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([this.control.close(), this.keeper.close()]);
  }

  override async completeGroupIn(
    transaction: OpenTransaction,
    mark: string,
    group: readonly LeasedCompletion[],
  ): Promise<void> {
    await this.fences.commitGroup(transaction, mark, group);
    await this.runRows.remove(group.map(({ lease }) => lease));
  }

  async completeIn(transaction: OpenTransaction, lease: Lease, completion: Completion): Promise<void> {
    await this.fences.commit(transaction, lease, completion);
    await this.runRows.remove([lease]);
  }

  async declareEndings(kinds: readonly string[], endings: readonly DeclaredEnding[]): Promise<void> {
    await this.run(declareEndings, { endings, kinds });
  }

  async depth(kinds: readonly string[]): Promise<KindDepth[]> {
    return (await this.run(countDue, { kinds })).map(kindDepth);
  }

  async enqueue(request: EncodedRequest, executor: SqlExecutor): Promise<Enqueued> {
    if (request.dedupeKey !== null) return (await this.enqueueMany([request], executor))[0]!;
    const sent = enqueueJob.run(executor, this.schema, requestParams(request));
    const { rows } = await namingMissingTables(this.schema, sent);
    return { disposition: 'created', id: rows[0]!.id, payloadDiffers: false };
  }

  async enqueueMany(requests: readonly EncodedRequest[], executor: SqlExecutor): Promise<Enqueued[]> {
    const plain = requests.filter(({ dedupeKey }) => dedupeKey === null);
    const keyed = requests.filter(({ dedupeKey }) => dedupeKey !== null);
    let created: Enqueued[] = [];
    let asked: Enqueued[] = [];
    if (plain.length > 0) {
      const sent = enqueueJobs.run(executor, this.schema, requestArrays(plain));
      const { rows } = await namingMissingTables(this.schema, sent);
      created = rows.map(({ id }) => ({ disposition: 'created', id, payloadDiffers: false }));
    }
    if (keyed.length > 0) {
      const sent = enqueueKeyedJobs.run(executor, this.schema, keyedRequestArrays(keyed));
      const { rows } = await namingMissingTables(this.schema, sent);
      asked = rows.map(({ disposition, id, payload_differs: payloadDiffers }) => ({ disposition, id, payloadDiffers }));
    }
    let at = 0;
    return requests.map(({ dedupeKey }, place) => (dedupeKey === null ? created[at++]! : asked[place - at]!));
  }

  async enqueueNow(requests: readonly EncodedRequest[]): Promise<Enqueued[]> {
    if (this.closed) throw new QueueClosedError();
    const mixed = new Set(requests.map(({ dedupeKey }) => dedupeKey === null)).size > 1;
    if (!mixed) return this.enqueueMany(requests, this.control);
    return this.control.transaction((executor) => this.enqueueMany(requests, executor));
  }

  async ensure(requests: readonly EncodedRequest[]): Promise<number> {
    if (this.closed) throw new QueueClosedError();
    const written = this.control.transaction(async (executor) => {
      await lockSeeding.run(executor, this.schema, {});
      const { rows } = await findMissingKeys.run(executor, this.schema, keyedRequestArrays(requests));
      await this.enqueueMany(
        rows.map(({ place }) => requests[place - 1]!),
        executor,
      );
      return rows.length;
    });
    return namingMissingTables(this.schema, written);
  }

  async giveBackClaim(token: string): Promise<number> {
    const { length } = await this.run(giveBackClaim, { token });
    this.marks.clear();
    return length;
  }

  override async hasWork(kinds: readonly string[]): Promise<boolean> {
    const [row] = await this.run(findWork, { kinds });
    if (row) this.paused.note(row.paused);
    return row?.waits ?? true;
  }

  hold(lease: Lease): Promise<boolean> {
    return this.runRows.hold(lease);
  }

  intake(limit: number): Promise<IntakeResult> {
    return takeIn(async () => {
      const [row] = await this.run(intakeRequests, { limit });
      if (row) this.paused.note(row.paused);
      return row;
    });
  }

  async reap(kinds: readonly string[], limit: number): Promise<ReapResult> {
    return reapResultOf(kinds.length === 0 ? [] : await this.run(reapJobs, { kinds, limit }));
  }

  renew(leases: readonly Lease[], leaseMs: number): Promise<Lease[]> {
    return this.runRows.renew(leases, leaseMs);
  }

  async report(reports: readonly LeasedProgress[]): Promise<Lease[]> {
    if (reports.length === 0) return [];
    const rows = await this.run(reportProgress, progressArrays(reports));
    return rows.map(({ id, token }) => ({ jobId: id, token }));
  }

  async settle(settlements: readonly LeasedSettlement[]): Promise<SettleAnswer[]> {
    const answers = settlements.map((): SettleAnswer => false);
    const batches = settlementBatches(settlements);
    const statements = batches.reduce((sum, { batch }) => sum + batch.statements, 0);
    const send = async (executor: SqlExecutor) => {
      if (statements > 1)
        await lockRuns.run(executor, this.schema, { ids: settlements.map(({ lease }) => lease.jobId) });
      for (const { batch, indexes } of batches) {
        const held = await batch.run(executor, this.schema);
        for (const index of indexes) answers[index] = held.get(settlements[index]!.lease.jobId) ?? false;
      }
    };
    await (statements > 1 ? this.control.transaction(send) : send(this.control));
    if (settlements.some(({ settlement }) => settlement.verb === 'giveBack')) this.marks.clear();
    await this.runRows.remove(settlements.map(({ lease }) => lease));
    return answers;
  }

  async suspectsDue(kinds: readonly string[]): Promise<number> {
    const claimable = kinds.filter((kind) => !this.paused.listed.includes(kind));
    const [row] = await this.run(countSuspects, { kinds: claimable });
    return Number(row?.due ?? 0);
  }

  async unknownKinds(kinds: readonly string[]): Promise<string[]> {
    return (await this.run(findUnknownKinds, { kinds })).map(({ kind }) => kind);
  }

  async verdict({ jobId, token }: Lease, attempt: number): Promise<Verdict> {
    return verdictOf((await this.run(readAttempt, { attempt, jobId, token }))[0]);
  }

  private async run<Params, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row[]> {
    return (await this.control.run(statement, this.schema, params)).rows;
  }
}
