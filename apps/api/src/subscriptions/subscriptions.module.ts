import { Module } from '@nestjs/common';
import { Subscriptions } from './subscriptions.js';
import { SubscriptionsController } from './subscriptions.controller.js';

/** SubscriptionsModule lets tenants say where their events are sent. */
@Module({ controllers: [SubscriptionsController], providers: [Subscriptions] })
export class SubscriptionsModule {}
