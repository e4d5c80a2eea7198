export { EVENT_ID, EVENT_TYPE, NO_REPOSITORY, REPOSITORY } from './events/event.format.js';
export { EventRecord } from './jobs/event-record.job.js';
export { WebhookDeliver } from './jobs/webhook-deliver.job.js';
