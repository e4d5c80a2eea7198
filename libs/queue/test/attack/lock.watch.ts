import type { Client } from 'pg';

/** LockWait is a session that was seen waiting for another one's lock. */
export interface LockWait {
  readonly pid: number;
  readonly query: string;
  readonly wait: string;
}

/**
 * LockWatch samples pg_stat_activity without a pause and keeps each session of an application that it saw waiting for a lock.
 *
 * A wait for the extension of a file is left out: sessions that append to one table hold that lock for the moment in which the file grows, and never
 * until the end of a transaction.
 */
export class LockWatch {
  readonly waits: LockWait[] = [];
  samples = 0;
  private watching: Promise<void> | undefined;
  private ended = false;

  constructor(
    private readonly client: Client,
    private readonly application: string,
  ) {}

  start(): this {
    this.watching ??= this.watch();
    return this;
  }

  async stop(): Promise<LockWait[]> {
    this.ended = true;
    await this.watching;
    return this.waits;
  }

  private async watch(): Promise<void> {
    while (!this.ended) {
      const { rows } = await this.client.query<LockWait>(
        `SELECT pid, wait_event AS wait, left(query, 80) AS query FROM pg_stat_activity
          WHERE datname = current_database() AND application_name = $1 AND wait_event_type = 'Lock' AND wait_event <> 'extend'`,
        [this.application],
      );
      this.samples += 1;
      this.waits.push(...rows);
    }
  }
}
