import { randomUUID } from 'node:crypto';
import { EventRecord, NO_REPOSITORY, patternsOf, WebhookDeliver } from '@holdfast/contracts';
import { DeliveryEntity, EventEntity, type AcceptedJob } from '@holdfast/hub';
import { JobQueue, type JobRequest, type Transaction } from '@holdfast/queue';
import { Injectable } from '@nestjs/common';
import type { TenantScope } from '../access/tenant.scope.js';
import { Problem } from '../problems/problem.js';
import { repositoryOf, type EventBody } from './event.body.js';
import { EventConflict } from './event.conflict.js';

/** AcceptedEvent is the answer to an event. */
export interface AcceptedEvent {
  readonly id: string;
  readonly jobs: readonly AcceptedJob[];
}

/**
 * A paused subscription is no reason to refuse an event: it gets no job. The moment is the database's, in milliseconds, as it travels through a job's
 * payload.
 */
const RECEIVE = `SELECT date_trunc('milliseconds', now()) AS received_at,
  ARRAY(SELECT id FROM subscription WHERE paused_at IS NULL AND event_types && $1::text[] ORDER BY id) AS matching`;

/** Received is what is looked up when an event comes in. */
interface Received {
  readonly matching: readonly string[];
  readonly received_at: Date;
}

/** An event that makes room for a new one was old: the new one is not removed in its turn. */
const TRIES = 3;

/** EventAcceptance stores a tenant's event together with the jobs and deliveries that it leads to: all are there, or none is. */
@Injectable()
export class EventAcceptance {
  constructor(private readonly jobs: JobQueue) {}

  /** accept is idempotent by the event's id within its tenant. Throws Problem 409 when the id was used for an event with another content. */
  async accept(scope: TenantScope, body: EventBody): Promise<AcceptedEvent> {
    const id = body.id ?? randomUUID();
    for (let tries = 0; tries < TRIES; tries++) {
      const accepted = (await this.store(scope, id, body)) ?? (await acceptedBefore(scope, id, body));
      // Neither: the event that was in the way has been removed meanwhile, because it was old.
      if (accepted) return accepted;
    }
    throw new Problem(503, `The event ${id} is being removed at this very moment: send it again.`);
  }

  private async enqueue(
    id: string,
    body: EventBody,
    receivedAt: Date,
    matching: readonly string[],
  ): Promise<AcceptedJob[]> {
    const repository = repositoryOf(body) ?? NO_REPOSITORY;
    const recorded = { eventId: id, receivedAt: receivedAt.toISOString(), repository, type: body.type };
    const requests: JobRequest[] = [
      EventRecord.request(recorded),
      ...matching.map((subscriptionId) => WebhookDeliver.request({ eventId: id, subscriptionId })),
    ];
    const [counted, ...deliveries] = await this.jobs.enqueueMany(requests);
    return [
      { kind: EventRecord.kind, id: counted!.id },
      ...deliveries.map((job, at) => ({ kind: WebhookDeliver.kind, id: job.id, subscriptionId: matching[at]! })),
    ];
  }

  /** store answers undefined, and leaves nothing, where the id is taken. */
  private async store(scope: TenantScope, id: string, body: EventBody): Promise<AcceptedEvent | undefined> {
    try {
      return await scope.run(async (tx) => {
        const { rows } = await tx.sql.query<Received>(RECEIVE, [patternsOf(body.type)]);
        const { matching, received_at: receivedAt } = rows[0]!;
        const jobs = await this.enqueue(id, body, receivedAt, matching);
        await insert(tx, {
          id,
          jobs,
          payload: body.payload,
          receivedAt,
          repository: repositoryOf(body),
          tenantId: scope.tenantId,
          type: body.type,
        });
        return { id, jobs };
      });
    } catch (error) {
      if (error instanceof EventConflict) return undefined;
      throw error;
    }
  }
}

/** acceptedBefore answers undefined where there is no such event any more. */
async function acceptedBefore(scope: TenantScope, id: string, body: EventBody): Promise<AcceptedEvent | undefined> {
  const before = await scope.read(({ manager }) => manager.findOneBy(EventEntity, { id }));
  if (!before) return undefined;
  const { jobs, payload, repository, type } = before;
  const same =
    type === body.type && repository === repositoryOf(body) && JSON.stringify(payload) === JSON.stringify(body.payload);
  if (same) return { id, jobs };
  throw new Problem(409, `The id ${id} belongs to an event with another content.`, [
    { field: 'id', message: 'this id is taken: use a new one' },
  ]);
}

async function insert({ manager }: Transaction, event: EventEntity): Promise<void> {
  const inserted = await manager
    .createQueryBuilder()
    .insert()
    .into(EventEntity)
    .values(event)
    .orIgnore()
    .returning('id')
    .execute();
  if ((inserted.raw as unknown[]).length === 0) throw new EventConflict(event.id);
  const { id: eventId, jobs, tenantId } = event;
  const deliveries = jobs.flatMap(({ id: jobId, subscriptionId }) =>
    subscriptionId === undefined ? [] : [{ eventId, jobId, subscriptionId, tenantId }],
  );
  if (deliveries.length > 0) await manager.insert(DeliveryEntity, deliveries);
}
