import { ApiKeyEntity } from './entities/api-key.entity.js';
import { DeliveryEntity } from './entities/delivery.entity.js';
import { EventEntity } from './entities/event.entity.js';
import { RepositoryStatisticsEntity } from './entities/repository-statistics.entity.js';
import { SubscriptionEntity } from './entities/subscription.entity.js';
import { TenantEntity } from './entities/tenant.entity.js';
import { CreateHub1764600000000 } from './migrations/1764600000000-create-hub.js';

/** HUB_ENTITIES are the entities of the hub's tables, for both apps. */
export const HUB_ENTITIES = [
  ApiKeyEntity,
  DeliveryEntity,
  EventEntity,
  RepositoryStatisticsEntity,
  SubscriptionEntity,
  TenantEntity,
];

/** HUB_MIGRATIONS is the one list of what the tables have gone through, in order. Whichever app starts first applies what is missing. */
export const HUB_MIGRATIONS = [CreateHub1764600000000];
