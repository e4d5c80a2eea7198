import type { ControlConnections, SchemaName, Statement } from '@holdfast/kernel';
import { type Ending, ENDINGS, type Keep, type Retention } from '../domain/retention.js';
import {
  type ExpiredJobs,
  type ExpiredPage,
  Housekeeping,
  type Swept,
  type SweepOrder,
} from '../ports/housekeeping.js';
import { namingMissingTables } from './missing.tables.js';
import { deleteRunRows } from './sql/delete-run-rows.sql.js';
import { type ExpiredRow, findExpired } from './sql/find-expired.sql.js';
import { findStrayRunRows } from './sql/find-stray-run-rows.sql.js';
import { sweepJobs } from './sql/sweep-jobs.sql.js';

/** Kinds that are looked at in one statement. */
const KINDS_OF_A_PAGE = 200;

const endings = Object.keys(ENDINGS) as Ending[];

/** PostgresHousekeeping takes away what has been kept for long enough, through control connections. */
export class PostgresHousekeeping extends Housekeeping {
  constructor(
    private readonly connections: ControlConnections,
    private readonly schema: SchemaName,
  ) {
    super();
  }

  override async expired(after: string | undefined, defaults: Retention): Promise<ExpiredPage> {
    const rows = await this.run(findExpired, {
      after: after ?? '',
      keepMs: endings.map((ending) => msOf(defaults[ending])),
      kinds: KINDS_OF_A_PAGE,
      states: endings.map((ending) => ENDINGS[ending]),
    });
    const next = rows.length === KINDS_OF_A_PAGE ? rows.at(-1)!.kind : undefined;
    return { expired: rows.flatMap(expiredOf), next };
  }

  override async sweep({ after, ending, keepMs, kind, limit }: SweepOrder): Promise<Swept> {
    const [row] = await this.run(sweepJobs, {
      afterId: after?.id ?? '0',
      afterMicros: after?.endedAt ?? null,
      keepMs,
      kind,
      limit,
      state: ENDINGS[ending],
    });
    return { mark: row && { endedAt: row.micros, id: row.id }, removed: row?.removed ?? 0 };
  }

  override async sweepRunRows(limit: number): Promise<number> {
    const strays = await this.run(findStrayRunRows, { limit });
    if (strays.length === 0) return 0;
    const removed = await this.run(deleteRunRows, {
      ids: strays.map(({ id }) => id),
      tokens: strays.map(({ token }) => token),
    });
    return removed.length;
  }

  private async run<Params, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row[]> {
    const sent = this.connections.run<Params, Row>(statement, this.schema, params);
    return (await namingMissingTables(this.schema, sent)).rows;
  }
}

function expiredOf({ keep_ms: keepMs, kind, states }: ExpiredRow): ExpiredJobs[] {
  return states.map((state, at) => ({
    ending: endings.find((ending) => ENDINGS[ending] === state)!,
    keepMs: keepMs[at]!,
    kind,
  }));
}

/** msOf answers a time as the statements take it: null is for ever. */
function msOf(keep: Keep): number | null {
  return keep === 'forever' ? null : keep;
}
