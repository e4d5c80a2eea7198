import { LATE, problemIn } from './problem.words.js';
import { type HealthFinding, HealthIndicator } from './health.indicator.js';
import { SharedLook } from './shared.look.js';

/** For so long a writable database is taken for writable. */
const FRESH_MS = 1_000;

/**
 * QueueDatabaseHealthIndicator tells whether the queue's database can be written to (H1).
 *
 * It asks on one connection of its own, which is opened by the first check and kept: neither handlers that use the whole of the application's pool nor
 * enqueues that use all control connections hold it up, and no check opens one for itself (K143). A server that only reads, as after a
 * failover, is down and its connection is not used again, so that it recovers without a restart (K33).
 */
export class QueueDatabaseHealthIndicator extends HealthIndicator {
  private readonly writable: SharedLook<void>;

  /** `probe` rejects when the database cannot be written to within the time it is given. */
  constructor(probe: (withinMs: number) => Promise<void>) {
    super();
    this.writable = new SharedLook({ freshMs: FRESH_MS, look: probe });
  }

  protected async look(timeoutMs: number): Promise<HealthFinding> {
    const look = await this.writable.take(timeoutMs);
    if (look.type === 'found') return { status: 'up' };
    const problem = look.type === 'late' ? LATE : problemIn(look.error);
    return { message: `No job can be written: ${problem}.`, status: 'down' };
  }
}
