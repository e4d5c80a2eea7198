import { EVENT_ID } from '@holdfast/contracts';
import { DeliveryEntity, EventEntity } from '@holdfast/hub';
import { Jobs } from '@holdfast/queue';
import { Injectable } from '@nestjs/common';
import { MoreThan, type EntityManager } from 'typeorm';
import type { TenantScope } from '../access/tenant.scope.js';
import { pageOf, type Page, type PageQuery } from '../problems/page.js';
import { Problem } from '../problems/problem.js';
import { deliveryView, eventView, type DeliveryView, type EventView } from './event.view.js';

/** EventLookup tells a tenant what became of its events. */
@Injectable()
export class EventLookup {
  constructor(private readonly jobs: Jobs) {}

  /** deliveries answers the deliveries of an event in the order of their subscriptions, each with its job. Throws Problem 404. */
  async deliveries(scope: TenantScope, eventId: string, page: PageQuery): Promise<Page<DeliveryView>> {
    const after = page.after === undefined ? {} : { subscriptionId: MoreThan(page.after) };
    const rows = await scope.read(async ({ manager }) => {
      await requireEvent(manager, eventId);
      return manager.find(DeliveryEntity, {
        order: { subscriptionId: 'ASC' },
        take: page.limit + 1,
        where: { eventId, ...after },
      });
    });
    const jobs = new Map(
      await Promise.all(rows.map(async ({ jobId }) => [jobId, await this.jobs.find(jobId)] as const)),
    );
    return pageOf(
      rows,
      page,
      ({ subscriptionId }) => subscriptionId,
      (row) => deliveryView(row, jobs.get(row.jobId)),
    );
  }

  /** find throws Problem 404 where the tenant has no such event. */
  async find(scope: TenantScope, id: string): Promise<EventView> {
    return scope.read(async ({ manager }) => eventView(await requireEvent(manager, id)));
  }
}

/** What is no id is not asked for: the server would refuse U+0000. */
async function requireEvent(manager: EntityManager, id: string): Promise<EventEntity> {
  const event = EVENT_ID.test(id) ? await manager.findOneBy(EventEntity, { id }) : null;
  if (!event) throw new Problem(404, 'There is no such event.');
  return event;
}
