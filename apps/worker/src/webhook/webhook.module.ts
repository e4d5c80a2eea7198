import { Module, type DynamicModule } from '@nestjs/common';
import type { WorkerConfiguration } from '../configuration/worker.configuration.js';
import { DeliveryLookup } from './delivery.lookup.js';
import { WebhookDeliverHandler } from './webhook-deliver.handler.js';
import { WebhookSender } from './webhook.sender.js';

/** WebhookModule sends events on to the subscriptions of their tenants. */
@Module({})
export class WebhookModule {
  static with({ allowPrivateAddresses }: WorkerConfiguration): DynamicModule {
    return {
      module: WebhookModule,
      providers: [
        { provide: WebhookSender, useValue: new WebhookSender({ allowPrivateAddresses }) },
        DeliveryLookup,
        WebhookDeliverHandler,
      ],
    };
  }
}
