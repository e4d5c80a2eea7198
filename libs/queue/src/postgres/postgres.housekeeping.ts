import type { ControlConnections, SchemaName, Statement } from '@holdfast/kernel';
import { type Ending, ENDINGS, type Keep, type Retention } from '../domain/retention.js';
import {
  type DatabaseHealth,
  type ExpiredJobs,
  type ExpiredPage,
  Housekeeping,
  type KindDeferrals,
  type OldestTransaction,
  type Swept,
  type SweepOrder,
} from '../ports/housekeeping.js';
import { namingMissingTables } from './missing.tables.js';
import { countDeferred } from './sql/count-deferred.sql.js';
import { deleteRunRows } from './sql/delete-run-rows.sql.js';
import { type ExpiredRow, findExpired } from './sql/find-expired.sql.js';
import { findStrayRunRows } from './sql/find-stray-run-rows.sql.js';
import { type HealthRow, readHealth } from './sql/read-health.sql.js';
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

  override async databaseHealth(): Promise<DatabaseHealth> {
    const [row] = await this.run(readHealth, {});
    return {
      deadRows: JSON.parse(row!.dead) as Record<string, number>,
      notificationQueueUsage: row!.usage,
      oldestTransaction: oldestOf(row!),
      oldestXminAge: row!.xmin_age,
    };
  }

  override async deferrals(): Promise<KindDeferrals[]> {
    const rows = await this.run(countDeferred, {});
    return rows.map(({ deferred, kind, oldest_ms: oldestMs }) => ({
      deferred: Number(deferred),
      kind,
      oldestAgeMs: Math.max(0, oldestMs),
    }));
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

function oldestOf({ application_name: name, oldest_ms: ageMs, pid }: HealthRow): OldestTransaction | undefined {
  if (ageMs === null || pid === null) return undefined;
  const applicationName = name ?? '';
  const holder = pid === 0 ? applicationName : `process ${pid} of the server (application_name '${applicationName}')`;
  return { ageMs: Math.max(0, ageMs), applicationName, holder, pid };
}

/** msOf answers a time as the statements take it: null is for ever. */
function msOf(keep: Keep): number | null {
  return keep === 'forever' ? null : keep;
}
