import type { ControlConnections, SchemaName, Statement } from '@holdfast/kernel';
import { type Ending, ENDINGS } from '../domain/retention.js';
import { type DeclaredRetention, type RunnerPresence, RunnerRoster } from '../ports/runner.roster.js';
import { namingMissingTables } from './missing.tables.js';
import { announceRunner } from './sql/announce-runner.sql.js';
import { declareRetention } from './sql/declare-retention.sql.js';
import { findHandledKinds } from './sql/find-handled-kinds.sql.js';
import { findUnhandledKinds } from './sql/find-unhandled-kinds.sql.js';
import { lockRetention } from './sql/lock-retention.sql.js';
import { sweepRunners } from './sql/sweep-runners.sql.js';
import { withdrawRunner } from './sql/withdraw-runner.sql.js';

/** RunnerRosterOptions say when a runner counts no more. */
export interface RunnerRosterOptions {
  /** withinMs is how long ago a runner may have been seen. Default 45 000: two of its announcements may be missed. */
  readonly withinMs?: number;
}

const WITHIN_MS = 45_000;
const SWEPT_AFTER_MS = 600_000;

/** PostgresRunnerRoster keeps the runners that are there in the table runner_presence, through control connections. */
export class PostgresRunnerRoster extends RunnerRoster {
  private readonly withinMs: number;

  constructor(
    private readonly connections: ControlConnections,
    private readonly schema: SchemaName,
    options: RunnerRosterOptions = {},
  ) {
    super();
    this.withinMs = options.withinMs ?? WITHIN_MS;
  }

  override async announce(presence: RunnerPresence): Promise<void> {
    await this.run(announceRunner, presence);
  }

  override async declare(retentions: readonly DeclaredRetention[]): Promise<void> {
    const said = retentions.flatMap(({ keep, kind }) =>
      (Object.keys(keep) as Ending[]).map((ending) => ({ keep: keep[ending]!, kind, state: ENDINGS[ending] })),
    );
    const written = this.connections.transaction(async (executor) => {
      await lockRetention.run(executor, this.schema, {});
      await declareRetention.run(executor, this.schema, {
        keepMs: said.map(({ keep }) => (keep === 'forever' ? null : keep)),
        kinds: retentions.map(({ kind }) => kind),
        saidKinds: said.map(({ kind }) => kind),
        saidStates: said.map(({ state }) => state),
      });
    });
    await namingMissingTables(this.schema, written);
  }

  override async handledKinds(): Promise<string[]> {
    const rows = await this.run(findHandledKinds, { withinMs: this.withinMs });
    return rows.map(({ kind }) => kind);
  }

  override async sweep(): Promise<number> {
    const olderMs = Math.max(SWEPT_AFTER_MS, this.withinMs);
    return (await this.run(sweepRunners, { olderMs })).length;
  }

  override async unhandledKinds(): Promise<string[]> {
    const rows = await this.run(findUnhandledKinds, { withinMs: this.withinMs });
    return rows.map(({ kind }) => kind);
  }

  override async withdraw(id: string): Promise<void> {
    await this.run(withdrawRunner, { id });
  }

  private async run<Params, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row[]> {
    const { rows } = await namingMissingTables(
      this.schema,
      this.connections.run<Params, Row>(statement, this.schema, params),
    );
    return rows;
  }
}
