import { randomUUID } from 'node:crypto';
import { EventRecord, NO_REPOSITORY, WebhookDeliver } from '@holdfast/contracts';
import { JobQueue, UnitOfWork } from '@holdfast/queue';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, Repository } from 'typeorm';
import { ApiConfiguration } from '../configuration/api.configuration.js';
import { EventEntity, type AcceptedJob } from '../database/event.entity.js';
import { Problem } from '../problems/problem.js';
import { repositoryOf, type EventBody } from './event.body.js';
import { EventConflict } from './event.conflict.js';

/** AcceptedEvent is the answer to an event. */
export interface AcceptedEvent {
  readonly id: string;
  readonly jobs: readonly AcceptedJob[];
}

/** EventAcceptance stores an event together with the jobs that it leads to: both are there, or neither is. */
@Injectable()
export class EventAcceptance {
  constructor(
    private readonly configuration: ApiConfiguration,
    @InjectRepository(EventEntity) private readonly events: Repository<EventEntity>,
    private readonly jobs: JobQueue,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** accept is idempotent by the event's id. Throws Problem 409 when the id was used for an event with another content. */
  async accept(body: EventBody): Promise<AcceptedEvent> {
    const id = body.id ?? randomUUID();
    try {
      return await this.unitOfWork.run(async (tx) => {
        const receivedAt = new Date();
        const jobs = await this.enqueue(id, body, receivedAt);
        await this.insert(tx.manager, {
          id,
          jobs,
          payload: body.payload,
          receivedAt,
          repository: repositoryOf(body),
          type: body.type,
        });
        return { id, jobs };
      });
    } catch (error) {
      if (error instanceof EventConflict) return this.acceptedBefore(id, body);
      throw error;
    }
  }

  private async acceptedBefore(id: string, body: EventBody): Promise<AcceptedEvent> {
    const { jobs, payload, repository, type } = await this.events.findOneByOrFail({ id });
    const same =
      type === body.type &&
      repository === repositoryOf(body) &&
      JSON.stringify(payload) === JSON.stringify(body.payload);
    if (same) return { id, jobs };
    throw new Problem(409, `The id ${id} belongs to an event with another content.`, [
      { field: 'id', message: 'this id is taken: use a new one' },
    ]);
  }

  private async enqueue(id: string, body: EventBody, receivedAt: Date): Promise<AcceptedJob[]> {
    const repository = repositoryOf(body) ?? NO_REPOSITORY;
    const recorded = { eventId: id, receivedAt: receivedAt.toISOString(), repository, type: body.type };
    const jobs: AcceptedJob[] = [{ kind: EventRecord.kind, id: (await this.jobs.enqueue(EventRecord, recorded)).id }];
    if (this.configuration.webhooks) {
      jobs.push({ kind: WebhookDeliver.kind, id: (await this.jobs.enqueue(WebhookDeliver, { eventId: id })).id });
    }
    return jobs;
  }

  private async insert(manager: EntityManager, event: EventEntity): Promise<void> {
    const inserted = await manager
      .createQueryBuilder()
      .insert()
      .into(EventEntity)
      .values(event)
      .orIgnore()
      .returning('id')
      .execute();
    if ((inserted.raw as unknown[]).length === 0) throw new EventConflict(event.id);
  }
}
