import { RetentionSweep } from '@holdfast/contracts';
import {
  JobHandler,
  refuse,
  repeat,
  type AttachedContext,
  type AttachedHandler,
  type JobOf,
  type Outcome,
} from '@holdfast/queue';
import {
  SWEEP_BATCH,
  SWEEP_EVENTS,
  TENANT_RETENTION,
  type SweepRow,
  type TenantRetentionRow,
} from './sweep-events.sql.js';

/** The next look: retention is in days, so that an hour more is none. */
const PAUSE = '1h';

/**
 * RetentionSweepHandler is the poller of one tenant that removes its events past their retention, with their deliveries; never a job's row.
 *
 * One job per tenant for ever: each run leaves the moment of the next in its own row, together with what it removed. While a batch was full the
 * next one is due at once. It ends, refused, when its tenant is gone.
 */
@JobHandler(RetentionSweep)
export class RetentionSweepHandler implements AttachedHandler<typeof RetentionSweep> {
  run = async (job: JobOf<typeof RetentionSweep>, ctx: AttachedContext): Promise<Outcome> => {
    // Before anything is read: who changes the retention and asks for a sweep from here on gets one that has seen the change (R11).
    await ctx.hold();
    const { sql } = ctx.tx;
    const [tenant] = (await sql.query<TenantRetentionRow>(TENANT_RETENTION, [job.tenantId])).rows;
    if (!tenant) return refuse('retention.tenant_gone');
    const [swept] = (await sql.query<SweepRow>(SWEEP_EVENTS, [tenant.retention_days, SWEEP_BATCH])).rows;
    const counts = { deliveries: swept?.deliveries ?? 0, events: swept?.events ?? 0 };
    return repeat(counts.events < SWEEP_BATCH ? PAUSE : '0s', { counts, outcome: 'retention.swept' });
  };
}
