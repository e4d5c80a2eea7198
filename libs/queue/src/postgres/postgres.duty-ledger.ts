import type { ControlConnections, SchemaName, SqlExecutor, Statement } from '@holdfast/kernel';
import type { DutyRun } from '../ports/duty.js';
import { type DueDuties, type DutyEnd, DutyLedger, type DutyPlan, type DutyStart } from '../ports/duty.ledger.js';
import { dutyRunOf } from './duty.run.row.js';
import { namingMissingTables } from './missing.tables.js';
import { askDuty } from './sql/ask-duty.sql.js';
import { endDuty } from './sql/end-duty.sql.js';
import { findDueDuties } from './sql/find-due-duties.sql.js';
import { findLastDutyStart } from './sql/find-last-duty-start.sql.js';
import { listDutyRuns } from './sql/list-duty-runs.sql.js';
import { startDuty } from './sql/start-duty.sql.js';
import { sweepDuties } from './sql/sweep-duties.sql.js';

/** A duty that nobody has started for so long after it was due is no longer in the code. */
const FORGOTTEN_AFTER_MS = 30 * 86_400_000;

/** PostgresDutyLedger keeps the last runs of duties in the table leader_duty; what it reads itself goes through control connections. */
export class PostgresDutyLedger extends DutyLedger {
  constructor(
    private readonly connections: ControlConnections,
    private readonly schema: SchemaName,
  ) {
    super();
  }

  override async ask(name: string): Promise<boolean> {
    return (await this.run(askDuty, { name })).length > 0;
  }

  override async due(plans: readonly DutyPlan[]): Promise<DueDuties> {
    if (plans.length === 0) return { due: [], nextInMs: undefined };
    const params = { everyMs: plans.map(({ everyMs }) => everyMs), names: plans.map(({ name }) => name) };
    const rows = await this.run(findDueDuties, params);
    const due = rows.filter((row) => row.due_in_ms <= 0).map(({ name }) => name);
    return { due, nextInMs: rows[due.length]?.due_in_ms };
  }

  override async end(executor: SqlExecutor, { failure, name, run }: DutyEnd): Promise<boolean> {
    const params = {
      errorClass: failure?.class ?? null,
      errorCode: failure?.code ?? null,
      name,
      retryMs: failure?.retryMs ?? null,
      run,
    };
    return (await endDuty.run(executor, this.schema, params)).rows.length > 0;
  }

  override async lastRuns(): Promise<DutyRun[]> {
    return (await this.run(listDutyRuns, {})).map(dutyRunOf);
  }

  override async lastStartMsAgo(): Promise<number | undefined> {
    const [row] = await this.run(findLastDutyStart, {});
    return row?.ago_ms ?? undefined;
  }

  override async start(
    executor: SqlExecutor,
    plan: DutyPlan,
    run: string,
    owner: string,
  ): Promise<DutyStart | undefined> {
    const { rows } = await startDuty.run(executor, this.schema, { ...plan, owner, run });
    return rows[0] && { failures: rows[0].failures, lastStartedAt: rows[0].last_started_at };
  }

  override async sweep(keep: readonly string[]): Promise<number> {
    return (await this.run(sweepDuties, { keep, olderMs: FORGOTTEN_AFTER_MS })).length;
  }

  private async run<Params, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row[]> {
    const { rows } = await namingMissingTables(
      this.schema,
      this.connections.run<Params, Row>(statement, this.schema, params),
    );
    return rows;
  }
}
