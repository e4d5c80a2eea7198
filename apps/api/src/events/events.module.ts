import { Module } from '@nestjs/common';
import { EventAcceptance } from './event.acceptance.js';
import { EventLookup } from './event.lookup.js';
import { EventsController } from './events.controller.js';

/** EventsModule is the edge that takes events. */
@Module({ controllers: [EventsController], providers: [EventAcceptance, EventLookup] })
export class EventsModule {}
