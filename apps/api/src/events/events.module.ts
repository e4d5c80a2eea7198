import { Module, type DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiConfiguration } from '../configuration/api.configuration.js';
import { EventEntity } from '../database/event.entity.js';
import { EventAcceptance } from './event.acceptance.js';
import { EventsController } from './events.controller.js';

/** EventsModule is the edge that takes events. */
@Module({})
export class EventsModule {
  static with(configuration: ApiConfiguration): DynamicModule {
    return {
      module: EventsModule,
      controllers: [EventsController],
      imports: [TypeOrmModule.forFeature([EventEntity])],
      providers: [{ provide: ApiConfiguration, useValue: configuration }, EventAcceptance],
    };
  }
}
