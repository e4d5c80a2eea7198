import { Module, type DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WorkerConfiguration } from '../configuration/worker.configuration.js';
import { StoredEventEntity } from '../database/stored-event.entity.js';
import { WebhookDeliverHandler } from './webhook-deliver.handler.js';
import { WebhookSender } from './webhook.sender.js';

/** WebhookModule sends events on to the configured webhook. */
@Module({})
export class WebhookModule {
  static with(configuration: WorkerConfiguration): DynamicModule {
    const { allowPrivateAddresses } = configuration;
    return {
      module: WebhookModule,
      imports: [TypeOrmModule.forFeature([StoredEventEntity])],
      providers: [
        { provide: WorkerConfiguration, useValue: configuration },
        { provide: WebhookSender, useValue: new WebhookSender({ allowPrivateAddresses }) },
        WebhookDeliverHandler,
      ],
    };
  }
}
