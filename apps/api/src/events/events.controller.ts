import { Body, Controller, Get, HttpCode, Param, Post, Query, Res, UseGuards } from '@nestjs/common';
import { Scope, TenantGuard } from '../access/tenant.guard.js';
import { TenantScope } from '../access/tenant.scope.js';
import { JsonBodyGuard } from '../problems/json-body.guard.js';
import { pageQuery, type PageQuery } from '../problems/page.js';
import type { ResponseHeaders } from '../problems/response.headers.js';
import { SchemaPipe } from '../problems/schema.pipe.js';
import { EventAcceptance, type AcceptedEvent } from './event.acceptance.js';
import { eventBody, type EventBody } from './event.body.js';
import { EventLookup } from './event.lookup.js';
import type { DeliveryView, EventView } from './event.view.js';

/** EventsController takes events and tells what became of them. */
@Controller('events')
@UseGuards(TenantGuard)
export class EventsController {
  constructor(
    private readonly acceptance: EventAcceptance,
    private readonly lookup: EventLookup,
  ) {}

  /** accept answers 202 once the event and its jobs have been committed; `Location` is where its first job is told about. */
  @Post()
  @HttpCode(202)
  @UseGuards(JsonBodyGuard)
  async accept(
    @Scope() scope: TenantScope,
    @Body(new SchemaPipe(eventBody)) body: EventBody,
    @Res({ passthrough: true }) response: ResponseHeaders,
  ): Promise<AcceptedEvent> {
    const accepted = await this.acceptance.accept(scope, body);
    const first = accepted.jobs[0];
    if (first) response.setHeader('Location', `/jobs/${first.id}`);
    return accepted;
  }

  @Get(':id/deliveries')
  async deliveries(
    @Scope() scope: TenantScope,
    @Param('id') id: string,
    @Query(new SchemaPipe(pageQuery, 'query')) query: PageQuery,
  ): Promise<{ deliveries: readonly DeliveryView[]; next: string | null }> {
    const { entries, next } = await this.lookup.deliveries(scope, id, query);
    return { deliveries: entries, next };
  }

  @Get(':id')
  find(@Scope() scope: TenantScope, @Param('id') id: string): Promise<EventView> {
    return this.lookup.find(scope, id);
  }
}
