import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Res, UseGuards } from '@nestjs/common';
import { Scope, TenantGuard } from '../access/tenant.guard.js';
import { TenantScope } from '../access/tenant.scope.js';
import { JsonBodyGuard } from '../problems/json-body.guard.js';
import { OptionalJsonBodyGuard } from '../problems/optional-json-body.guard.js';
import { pageQuery, type PageQuery } from '../problems/page.js';
import type { ResponseHeaders } from '../problems/response.headers.js';
import { SchemaPipe } from '../problems/schema.pipe.js';
import {
  secretBody,
  subscriptionBody,
  subscriptionChange,
  type SecretBody,
  type SubscriptionBody,
  type SubscriptionChange,
} from './subscription.body.js';
import type { NewSecret, SubscriptionView } from './subscription.view.js';
import { Subscriptions } from './subscriptions.js';

/** SubscriptionsController lets a tenant say where its events are sent. */
@Controller('subscriptions')
@UseGuards(TenantGuard)
export class SubscriptionsController {
  constructor(private readonly subscriptions: Subscriptions) {}

  /** add answers 201 with the secret, which is shown this once. */
  @Post()
  @UseGuards(JsonBodyGuard)
  async add(
    @Scope() scope: TenantScope,
    @Body(new SchemaPipe(subscriptionBody)) body: SubscriptionBody,
    @Res({ passthrough: true }) response: ResponseHeaders,
  ): Promise<SubscriptionView & NewSecret> {
    const added = await this.subscriptions.add(scope, body);
    response.setHeader('Location', `/subscriptions/${added.id}`);
    return added;
  }

  @Patch(':id')
  @UseGuards(JsonBodyGuard)
  change(
    @Scope() scope: TenantScope,
    @Param('id') id: string,
    @Body(new SchemaPipe(subscriptionChange)) change: SubscriptionChange,
  ): Promise<SubscriptionView> {
    return this.subscriptions.change(scope, id, change);
  }

  @Get(':id')
  find(@Scope() scope: TenantScope, @Param('id') id: string): Promise<SubscriptionView> {
    return this.subscriptions.find(scope, id);
  }

  @Get()
  async list(
    @Scope() scope: TenantScope,
    @Query(new SchemaPipe(pageQuery, 'query')) query: PageQuery,
  ): Promise<{ next: string | null; subscriptions: readonly SubscriptionView[] }> {
    const { entries, next } = await this.subscriptions.list(scope, query);
    return { subscriptions: entries, next };
  }

  @Delete(':id')
  @HttpCode(204)
  async remove(@Scope() scope: TenantScope, @Param('id') id: string): Promise<void> {
    await this.subscriptions.remove(scope, id);
  }

  /** rotate answers 200 with the new secret, which is shown this once. */
  @Post(':id/secret')
  @HttpCode(200)
  @UseGuards(OptionalJsonBodyGuard)
  rotate(
    @Scope() scope: TenantScope,
    @Param('id') id: string,
    @Body(new SchemaPipe(secretBody)) body: SecretBody,
  ): Promise<SubscriptionView & NewSecret> {
    return this.subscriptions.rotate(scope, id, body);
  }
}
