import type { AcceptedJob, DeliveryEntity, EventEntity } from '@holdfast/hub';
import type { JobStatus } from '@holdfast/queue';

/** EventView is an event as its tenant sees it. */
export interface EventView {
  readonly id: string;
  readonly jobs: readonly AcceptedJob[];
  readonly payload: object;
  readonly receivedAt: string;
  readonly repository: string | null;
  readonly type: string;
}

/** DeliveryView is one event on its way to one subscription, with the state of its job. */
export interface DeliveryView {
  /** attempts spent, the running one included. */
  readonly attempts: number | null;
  readonly createdAt: string;
  readonly deliveredAt: string | null;
  /** error is the code of the last failure, or of the refusal, or null. */
  readonly error: string | null;
  readonly jobId: string;
  /** state is the job's; null where the job is gone. */
  readonly state: JobStatus['state'] | null;
  /** status is what the receiver answered to the delivery that it took; null before. */
  readonly status: number | null;
  readonly subscriptionId: string;
}

/** eventView writes an event as it is shown. */
export function eventView({ id, jobs, payload, receivedAt, repository, type }: EventEntity): EventView {
  return { id, type, repository, receivedAt: receivedAt.toISOString(), jobs, payload };
}

/** deliveryView writes a delivery and its job as they are shown. */
export function deliveryView(delivery: DeliveryEntity, job: JobStatus | undefined): DeliveryView {
  const { createdAt, deliveredAt, jobId, status, subscriptionId } = delivery;
  return {
    subscriptionId,
    jobId,
    state: job?.state ?? null,
    attempts: job?.attempt ?? null,
    error: job?.errorCode ?? null,
    status,
    deliveredAt: deliveredAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  };
}
