import type { Pool } from 'pg';

/** LiveRow is a live job of the key. */
export interface LiveRow {
  readonly due_ms: number;
  readonly due_text: string;
  readonly id: string;
  readonly number: number;
  readonly state: number;
  readonly tenant: string;
  readonly token: string | null;
  /** waits_out: it waits for a retry or for the end of an outage. */
  readonly waits_out: boolean;
}

/** RequestRow is a committed request that is no job yet. */
export interface RequestRow {
  readonly due_ms: number;
  readonly tenant: string;
}

/** RequeueRow is what became of a job that was to be requeued. */
export interface RequeueRow {
  readonly answer: string;
  readonly live_id: string | null;
}

/** DedupeTable is what an observer beside the store sees of one kind. */
export class DedupeTable {
  constructor(
    private readonly observer: Pool,
    private readonly schema: string,
    private readonly kind: string,
  ) {}

  async expireLease(jobId: string): Promise<void> {
    await this.observer.query(`UPDATE ${this.schema}.job SET lease_until = now() - interval '1 second' WHERE id = $1`, [
      jobId,
    ]);
  }

  async live(): Promise<LiveRow[]> {
    const { rows } = await this.observer.query<LiveRow>(
      `SELECT id::text, coalesce(tenant_id, '') AS tenant, state, lease_token::text AS token, (payload ->> 'n')::int AS number,
              attempt > 0 OR deferred_since IS NOT NULL AS waits_out, (extract(epoch FROM due_at) * 1000)::float8 AS due_ms,
              to_char(due_at AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS') AS due_text
         FROM ${this.schema}.job WHERE kind = $1 AND state IN (0, 1)`,
      [this.kind],
    );
    return rows;
  }

  async makeDue(): Promise<void> {
    await this.observer.query(
      `UPDATE ${this.schema}.job SET due_at = now() - interval '1 hour' WHERE kind = $1 AND state = 0`,
      [this.kind],
    );
  }

  async requests(): Promise<RequestRow[]> {
    const { rows } = await this.observer.query<RequestRow>(
      `SELECT coalesce(tenant_id, '') AS tenant, (extract(epoch FROM due_at) * 1000)::float8 AS due_ms
         FROM ${this.schema}.job_request WHERE kind = $1`,
      [this.kind],
    );
    return rows;
  }

  /** ended answers the jobs that an operator may requeue. */
  async ended(): Promise<{ id: string; tenant: string }[]> {
    const { rows } = await this.observer.query<{ id: string; tenant: string }>(
      `SELECT id::text, coalesce(tenant_id, '') AS tenant FROM ${this.schema}.job WHERE kind = $1 AND state IN (3, 4, 5) ORDER BY id`,
      [this.kind],
    );
    return rows;
  }

  /** requeue requeues a job as an operator does, once; who waits for somebody's lock fails soon. */
  async requeue(id: string): Promise<RequeueRow> {
    const client = await this.observer.connect();
    try {
      await client.query(`BEGIN; SET LOCAL lock_timeout = '250ms'`);
      const { rows } = await client.query<RequeueRow>(
        `SELECT answer, live_id::text FROM ${this.schema}.requeue_jobs(ARRAY[$1::bigint])`,
        [id],
      );
      await client.query('COMMIT');
      return rows[0]!;
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  }

  /** whileLocked does `work` while another session holds the rows of all pending jobs. */
  async whileLocked(work: () => Promise<unknown>): Promise<void> {
    const client = await this.observer.connect();
    try {
      await client.query('BEGIN');
      await client.query(`SELECT FROM ${this.schema}.job WHERE kind = $1 AND state = 0 FOR UPDATE`, [this.kind]);
      await work();
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  }
}
