import { EventRecord } from '@holdfast/contracts';
import {
  done,
  JobHandler,
  refuse,
  type AttachedContext,
  type AttachedHandler,
  type JobOf,
  type Outcome,
} from '@holdfast/queue';

/** The older of two events never becomes the last one, in whatever order their jobs run. */
const COUNT_EVENT = `
  INSERT INTO repository_statistics AS kept (tenant_id, repository, event_type, events, last_event_id, last_event_at)
  VALUES ($1, $2, $3, 1, $4, $5)
  ON CONFLICT (tenant_id, repository, event_type) DO UPDATE SET
    events = kept.events + 1,
    last_event_id = CASE WHEN excluded.last_event_at >= kept.last_event_at THEN excluded.last_event_id ELSE kept.last_event_id END,
    last_event_at = greatest(excluded.last_event_at, kept.last_event_at)`;

/** EventRecordHandler counts an event for its tenant. Adding one is not safe to repeat: it is right because it commits together with the job's completion. */
@JobHandler(EventRecord)
export class EventRecordHandler implements AttachedHandler<typeof EventRecord> {
  run = async (job: JobOf<typeof EventRecord>, ctx: AttachedContext): Promise<Outcome> => {
    const { eventId, receivedAt, repository, type } = job.payload;
    // Statistics are a tenant's: a job of the system has none to write to.
    if (job.tenantId === null) return refuse('event.tenant_missing');
    await ctx.tx.manager.query(COUNT_EVENT, [job.tenantId, repository, type, eventId, receivedAt]);
    return done({ outcome: 'event.counted' });
  };
}
