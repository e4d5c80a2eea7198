import { SchemaName } from '@holdfast/kernel';
import type { TestDatabase } from '@holdfast/testing';
import type { ClientConfig } from 'pg';
import { AdvisoryLockLeadership } from '../../src/leadership/advisory-lock.leadership.js';
import { LEADER_LOCK_CLASS } from '../../src/leadership/lock.key.js';

/** Leaderships are those of one spec file, closed after each test whatever became of it. */
export class Leaderships {
  private readonly made: AdvisoryLockLeadership[] = [];

  add(leadership: AdvisoryLockLeadership): void {
    this.made.push(leadership);
  }

  async close(): Promise<void> {
    await Promise.all(this.made.splice(0).map((leadership) => leadership.close()));
  }

  on(url: string, config: ClientConfig = {}): AdvisoryLockLeadership {
    const schema = new SchemaName('holdfast');
    const leadership = new AdvisoryLockLeadership({ connectionString: url, ...config }, { schema });
    this.add(leadership);
    return leadership;
  }
}

/** leaderLocks answers who holds leaders' locks in this database. */
export function leaderLocks(db: TestDatabase): Promise<{ objid: string; pid: number }[]> {
  return db.adminQuery(
    `SELECT l.pid, l.objid::text FROM pg_locks l JOIN pg_database d ON d.oid = l.database
     WHERE l.locktype = 'advisory' AND l.classid = ${LEADER_LOCK_CLASS} AND d.datname = current_database() AND l.granted`,
  );
}

/** leaderBackends answers the sessions of leaders and of those who wait. */
export function leaderBackends(db: TestDatabase): Promise<{ pid: number }[]> {
  return db.adminQuery(
    `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'holdfast-leader' ORDER BY backend_start`,
  );
}

/** losses answers the reasons of the losses from now on, as they come. */
export function losses(candidate: { onLost(listener: (reason: Error) => void): unknown }): Error[] {
  const reasons: Error[] = [];
  candidate.onLost((reason) => reasons.push(reason));
  return reasons;
}

/** nextLoss answers the reason of the next loss. */
export function nextLoss(candidate: { onLost(listener: (reason: Error) => void): () => void }): Promise<Error> {
  return new Promise((resolve) => {
    const off = candidate.onLost((reason) => {
      off();
      resolve(reason);
    });
  });
}
