import { type SchemaName, Statement } from '@holdfast/kernel';
import { statusColumns, type StatusRow } from './status-columns.sql.js';

/** ListJobsParams ask for a part of a section, behind a key. */
export interface ListJobsParams {
  readonly errorCode: string | null;
  /** firstKind and lastKind bound the kinds: one and the same for one kind. */
  readonly firstKind: string;
  /** key is what the section is ordered by, of the last row before. */
  readonly key: readonly string[];
  readonly lastKind: string;
  readonly limit: number;
  /** scan is the most rows that are looked at. */
  readonly scan: number;
  readonly state: number;
  readonly tenantId: string | null;
}

/** ListedRow is a job of the page, or, where it does not match, the last one that was looked at. */
export interface ListedRow extends StatusRow {
  readonly key: string[];
  readonly matches: boolean;
  /** scanned is how many rows were looked at. */
  readonly scanned: number;
}

/** Moments in keys are microseconds since 1970: nothing is lost in them, and no setting of the session matters. */
const us = (moment: string) => `(extract(epoch FROM ${moment}) * 1000000)::bigint::text`;
const at = (position: number) => `timestamptz 'epoch' + ($5::text[])[${position}]::bigint * interval '1 microsecond'`;
const whole = (position: number) => `($5::text[])[${position}]::bigint`;
const kind = (position: number) => `($5::text[])[${position}] COLLATE "C"`;

/** The most kinds that are looked at: a bound for a table filled with kinds that were assembled from data. */
const MOST_KINDS = 1_000;

interface Section {
  /** key writes the order's columns of a row as texts. */
  readonly key: string;
  readonly name: string;
  readonly scanned: (schema: SchemaName) => string;
}

const section = ({ key, name, scanned }: Section) =>
  new Statement<ListJobsParams, ListedRow>({
    name,
    text: (schema) => `
WITH RECURSIVE ${scanned(schema)}, picked AS (
  SELECT s.id FROM scanned s
    WHERE ($7::text IS NULL OR s.tenant_id = $7::text) AND ($8::text IS NULL OR s.error_code = $8::text)
    ORDER BY s.place LIMIT $6::integer
)
SELECT j.*, s.matches, s.key, s.scanned
  FROM (
    SELECT s.id, s.place, ARRAY[${key}] AS key, s.id = ANY (ARRAY(SELECT p.id FROM picked p)) AS matches, (SELECT count(*)::int FROM scanned) AS scanned
      FROM scanned s
      WHERE s.id = ANY (ARRAY(SELECT p.id FROM picked p)) OR s.place = (SELECT max(l.place) FROM scanned l)
  ) s
  CROSS JOIN LATERAL (SELECT ${statusColumns(schema)} FROM ${schema.of('job')} j WHERE j.id = s.id OFFSET 0) j
  ORDER BY s.place`,
    values: (p) => [p.state, p.firstKind, p.lastKind, p.scan, p.key, p.limit, p.tenantId, p.errorCode],
  });

/** range writes the rows behind a key that one index keeps in the order of the columns. */
const range = (where: string, columns: readonly string[], bounds: readonly string[]) => (schema: SchemaName) => {
  const order = columns.join(', ');
  return `scanned AS MATERIALIZED (
  SELECT j.*, row_number() OVER (ORDER BY ${order}) AS place
    FROM (
      SELECT j.id, j.kind, j.priority, j.due_at, j.lease_until, j.tenant_id, j.error_code FROM ${schema.of('job')} j
        WHERE ${where} AND j.state = $1::smallint AND j.kind >= $2::text AND j.kind <= $3::text AND (${order}) > (${bounds.join(', ')})
        ORDER BY ${order} LIMIT $4::integer
    ) j
)`;
};

/**
 * Lists running jobs by kind and by the end of the lease that they were claimed under.
 *
 * Locks: none. Index: job_leases, from the key on. Fence: none, it only reads. The payload is not touched (K147).
 */
export const listRunning = section({
  name: 'list-running',
  key: `s.kind, ${us('s.lease_until')}, s.id::text`,
  scanned: range('j.state = 1', ['j.kind', 'j.lease_until', 'j.id'], [kind(1), at(2), whole(3)]),
});

/**
 * Lists pending jobs by kind, priority and moment: the order in which they run.
 *
 * Locks: none. Index: job_claim, from the key on. Fence: none, it only reads. The payload is not touched (K147).
 */
export const listPending = section({
  name: 'list-pending',
  key: `s.kind, s.priority::text, ${us('s.due_at')}, s.id::text`,
  scanned: range(
    'j.state = 0 AND NOT j.suspect',
    ['j.kind', 'j.priority', 'j.due_at', 'j.id'],
    [kind(1), whole(2), at(3), whole(4)],
  ),
});

/**
 * Lists pending jobs whose last run vanished.
 *
 * Locks: none. Index: job_suspects, from the key on. Fence: none, it only reads. The payload is not touched (K147).
 */
export const listSuspects = section({
  name: 'list-suspects',
  key: `s.kind, ${us('s.due_at')}, s.id::text`,
  scanned: range('j.state = 0 AND j.suspect', ['j.kind', 'j.due_at', 'j.id'], [kind(1), at(2), whole(3)]),
});

/**
 * Lists jobs that have ended in a state, the last to end first.
 *
 * Locks: none. Index: job_ended, hopping from kind to kind, 1 000 hops at most, and backwards from the key on in each. Fence: none, it only reads. The
 * payload is not touched (K147).
 */
export const listFinished = section({
  name: 'list-finished',
  key: `${us('s.finished_at')}, s.id::text`,
  scanned: (schema) => {
    const job = schema.of('job');
    const hop = (after: string) =>
      `SELECT j.kind FROM ${job} j WHERE j.state >= 2 AND ${after} AND j.kind <= $3::text ORDER BY j.kind LIMIT 1`;
    return `kinds (kind, hop) AS (
  SELECT (${hop('j.kind >= $2::text')}), 1
  UNION ALL
  SELECT (${hop('j.kind > k.kind')}), k.hop + 1 FROM kinds k WHERE k.kind IS NOT NULL AND k.hop < ${MOST_KINDS}
), scanned AS MATERIALIZED (
  SELECT f.*, row_number() OVER (ORDER BY f.finished_at DESC, f.id DESC) AS place
    FROM (
      SELECT e.* FROM kinds k
        CROSS JOIN LATERAL (
          SELECT j.id, j.finished_at, j.tenant_id, j.error_code FROM ${job} j
            WHERE j.state = $1::smallint AND j.state >= 2 AND j.kind = k.kind AND (j.finished_at, j.id) < (${at(1)}, ${whole(2)})
            ORDER BY j.finished_at DESC, j.id DESC LIMIT $4::integer
        ) e
        ORDER BY e.finished_at DESC, e.id DESC LIMIT $4::integer
    ) f
)`;
  },
});
