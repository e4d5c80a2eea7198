import { createQueue, pgPool } from '@holdfast/queue/core';
import type { Pool } from 'pg';
import { KEYED, NEVER, ONCE } from './soak.jobs.js';
import { soakPool } from './soak.pool.js';

/** SoakFindings are what the tables say when all is over. */
export interface SoakFindings {
  readonly duties: number;
  /** dutyGapSeconds is the longest time without a duty. */
  readonly dutyGapSeconds: number;
  /** ghosts are effects of requests that were never committed. */
  readonly ghosts: readonly string[];
  /** left are jobs that are not final and requests that wait, by kind. */
  readonly left: readonly string[];
  /** misended are jobs that ended otherwise than their kind should. */
  readonly misended: readonly string[];
  readonly requests: number;
  /** twiceReceived is how often a detached run told the receiver again. */
  readonly twiceReceived: number;
  /** uncovered are committed requests of a key that no run covers. */
  readonly uncovered: readonly string[];
  readonly unreceived: readonly string[];
  /** wrong are requests whose effects are not as many as they must be. */
  readonly wrong: readonly string[];
}

const TABLES = `
CREATE TABLE soak_request (kind text NOT NULL, tag text PRIMARY KEY, key text, at timestamptz NOT NULL DEFAULT clock_timestamp(), seen boolean NOT NULL DEFAULT false);
CREATE INDEX ON soak_request (kind, key) WHERE NOT seen;
CREATE TABLE soak_effect (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kind text NOT NULL, tag text NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE INDEX ON soak_effect (kind, tag);
CREATE TABLE soak_received (tag text PRIMARY KEY, times int NOT NULL DEFAULT 1);
CREATE TABLE soak_duty (at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE TABLE soak_over ();`;

const kindsOf = (definitions: readonly { readonly kind: string }[]) => definitions.map(({ kind }) => kind);

/**
 * SoakLedger is what the soak is judged by: producers write a request beside each enqueue, in its transaction, and handlers an effect in theirs. What
 * committed is in the tables, whatever the client was told.
 */
export class SoakLedger {
  constructor(readonly pool: Pool) {}

  static async create(url: string): Promise<SoakLedger> {
    const ledger = new SoakLedger(soakPool({ application_name: 'soak-ledger', connectionString: url, max: 4 }));
    const queue = createQueue({ database: pgPool(ledger.pool), migrations: 'up' });
    await queue.prepare().finally(() => queue.close());
    await ledger.createTables();
    return ledger;
  }

  /** backends answers how many connections the workers have. */
  async backends(): Promise<number> {
    const [row] = await this.rows<{ n: number }>(
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
       AND application_name NOT IN ('soak-ledger', 'soak-producer')`,
    );
    return row!.n;
  }

  close(): Promise<void> {
    return this.pool.end();
  }

  async createTables(): Promise<void> {
    await this.pool.query(TABLES);
  }

  /** effects answers how many effects have been committed, pollers' aside. It rejects while the server is away. */
  async effects(): Promise<number> {
    const [row] = await this.rows<{ n: number }>(
      `SELECT count(*)::int AS n FROM soak_effect WHERE kind <> 'soak.poller'`,
    );
    return row!.n;
  }

  async findings(): Promise<SoakFindings> {
    const texts = async (sql: string, ...values: unknown[]) =>
      (await this.rows<{ text: string }>(`${sql} LIMIT 20`, values)).map(({ text }) => text);
    const [counts] = await this.rows<Pick<SoakFindings, 'duties' | 'dutyGapSeconds' | 'requests' | 'twiceReceived'>>(
      `SELECT (SELECT count(*)::int FROM soak_duty) AS duties,
         (SELECT coalesce(max(gap), 0)::float FROM (SELECT extract(epoch FROM at - lag(at) OVER (ORDER BY at)) AS gap FROM soak_duty) g) AS "dutyGapSeconds",
         (SELECT count(*)::int FROM soak_request) AS requests,
         (SELECT coalesce(sum(times - 1), 0)::int FROM soak_received) AS "twiceReceived"`,
    );
    return {
      ...counts!,
      ghosts: await texts(
        `SELECT e.kind || ' ' || e.tag AS text FROM soak_effect e WHERE e.kind = ANY($1) AND NOT EXISTS (SELECT FROM soak_request r WHERE r.tag = e.tag)`,
        kindsOf([...ONCE, ...NEVER]),
      ),
      left: await texts(
        `SELECT kind || ' ' || id || ' in state ' || state AS text FROM holdfast.job WHERE state < 2 UNION ALL SELECT kind || ' request ' || id FROM holdfast.job_request`,
      ),
      misended: await texts(
        `SELECT kind || ' ' || id || ' ended in state ' || state || coalesce(' ' || failures::text, '') AS text FROM holdfast.job
         WHERE state >= 2 AND state <> CASE kind WHEN 'soak.refused' THEN 3 WHEN 'soak.dead' THEN 4 ELSE 2 END`,
      ),
      uncovered: await texts(
        `SELECT r.kind || ' ' || r.key || ' of ' || r.at AS text FROM soak_request r WHERE r.kind = ANY($1) AND NOT r.seen
         AND NOT (r.kind = 'soak.merged' AND EXISTS (SELECT FROM soak_effect e WHERE e.kind = r.kind AND e.tag = r.key AND pg_xact_commit_timestamp(e.xmin) >= r.at - interval '2 seconds'))`,
        kindsOf(KEYED),
      ),
      unreceived: await texts(
        `SELECT r.tag AS text FROM soak_request r WHERE r.kind = 'soak.outside' AND NOT EXISTS (SELECT FROM soak_received d WHERE d.tag = r.tag)`,
      ),
      wrong: await texts(
        `SELECT r.kind || ' ' || r.tag || ' has ' || count(e.id) || ' effects' AS text FROM soak_request r LEFT JOIN soak_effect e ON e.kind = r.kind AND e.tag = r.tag
         WHERE r.kind = ANY($1) OR r.kind = ANY($2) GROUP BY r.kind, r.tag HAVING count(e.id) <> CASE WHEN r.kind = ANY($1) THEN 1 ELSE 0 END`,
        kindsOf(ONCE),
        kindsOf(NEVER),
      ),
    };
  }

  /** live answers how many jobs are not final, pollers aside, and how many requests wait. */
  async live(): Promise<number> {
    const [row] = await this.rows<{ n: number }>(
      `SELECT (SELECT count(*) FROM holdfast.job WHERE state < 2 AND kind <> 'soak.poller')::int
         + (SELECT count(*) FROM holdfast.job_request WHERE kind <> 'soak.poller')::int AS n`,
    );
    return row!.n;
  }

  /** idlePollers answers the pollers that have not run for so long, or not live exactly once. */
  async idlePollers(tags: readonly string[], seconds: number): Promise<string[]> {
    const rows = await this.rows<{ tag: string }>(
      `SELECT tag FROM unnest($1::text[]) AS tag
       WHERE NOT EXISTS (SELECT FROM soak_effect e WHERE e.kind = 'soak.poller' AND e.tag = tag.tag AND e.at > clock_timestamp() - make_interval(secs => $2))
       OR 1 <> (SELECT count(*) FROM holdfast.job j WHERE j.kind = 'soak.poller' AND j.dedupe_key = tag.tag AND j.state < 2)`,
      [tags, seconds],
    );
    return rows.map(({ tag }) => tag);
  }

  /** over lets the pollers end. */
  async over(): Promise<void> {
    await this.pool.query('INSERT INTO soak_over DEFAULT VALUES');
  }

  async rows<Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.pool.query(sql, [...values])).rows as Row[];
  }
}
