export { EVENT_ID, EVENT_TYPE, NO_REPOSITORY, REPOSITORY } from './events/event.format.js';
export { ANY_EVENT, isEventPattern, patternsOf } from './events/event.pattern.js';
export { EventRecord } from './jobs/event-record.job.js';
export { RetentionSweep, retentionSweep } from './jobs/retention-sweep.job.js';
export { WebhookDeliver } from './jobs/webhook-deliver.job.js';
