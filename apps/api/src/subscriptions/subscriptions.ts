import { randomBytes } from 'node:crypto';
import { SubscriptionEntity, TenantEntity } from '@holdfast/hub';
import { Injectable } from '@nestjs/common';
import { MoreThan, type EntityManager } from 'typeorm';
import type { TenantScope } from '../access/tenant.scope.js';
import { pageOf, type Page, type PageQuery } from '../problems/page.js';
import { Problem } from '../problems/problem.js';
import type { SecretBody, SubscriptionBody, SubscriptionChange } from './subscription.body.js';
import { SHOWN, subscriptionView, type NewSecret, type SubscriptionView } from './subscription.view.js';

/** Each event is matched with all of its tenant's subscriptions, in the transaction of its 202. */
const MAX_SUBSCRIPTIONS = 100;
const ID = /^sub_[0-9a-f]{24}$/;

const CHANGE = `
  UPDATE subscription SET
    url = coalesce($2, url),
    event_types = coalesce($3, event_types),
    paused_at = CASE WHEN $4::boolean IS NULL THEN paused_at WHEN $4 THEN coalesce(paused_at, now()) END
  WHERE id = $1`;
/** The secret that there is, sent again because the answer was lost, does not push out the one before it, which receivers may still know alone. */
const ROTATE = `
  UPDATE subscription SET
    secret = $2,
    previous_secret = CASE WHEN $3::float8 <= 0 THEN NULL WHEN secret = $2 THEN previous_secret ELSE secret END,
    previous_secret_until = CASE
      WHEN $3::float8 <= 0 THEN NULL
      WHEN secret = $2 THEN previous_secret_until
      ELSE now() + make_interval(secs => $3::float8 / 1000)
    END
  WHERE id = $1`;

/** Subscriptions are where a tenant's events are sent. Whatever is done here is done under the scope of a tenant. */
@Injectable()
export class Subscriptions {
  /** add makes a subscription and answers it with its secret, this once. Throws Problem 409 where the tenant has too many. */
  async add(scope: TenantScope, body: SubscriptionBody): Promise<SubscriptionView & NewSecret> {
    const { eventTypes, secret = newSecret(), url } = body;
    const id = `sub_${randomBytes(12).toString('hex')}`;
    return scope.run(async ({ manager }) => {
      await requireRoom(manager, scope.tenantId);
      await manager.insert(SubscriptionEntity, { eventTypes, id, secret, tenantId: scope.tenantId, url });
      return { ...subscriptionView(await shown(manager, id)), secret };
    });
  }

  /** change pauses, resumes, or says other types or another URL. Throws Problem 404. */
  async change(scope: TenantScope, id: string, change: SubscriptionChange): Promise<SubscriptionView> {
    const { eventTypes = null, paused = null, url = null } = change;
    return scope.run(async ({ manager, sql }) => {
      await sql.query(CHANGE, [requireId(id), url, eventTypes, paused]);
      return subscriptionView(await shown(manager, id));
    });
  }

  /** find throws Problem 404 where the tenant has no such subscription. */
  async find(scope: TenantScope, id: string): Promise<SubscriptionView> {
    return scope.read(async ({ manager }) => subscriptionView(await shown(manager, id)));
  }

  /** list answers the tenant's subscriptions in the order of their ids. */
  async list(scope: TenantScope, page: PageQuery): Promise<Page<SubscriptionView>> {
    const where = page.after === undefined ? {} : { id: MoreThan(page.after) };
    const rows = await scope.read(({ manager }) =>
      manager.find(SubscriptionEntity, { order: { id: 'ASC' }, select: SHOWN, take: page.limit + 1, where }),
    );
    return pageOf(rows, page, ({ id }) => id, subscriptionView);
  }

  /** remove ends a subscription: deliveries that wait are refused when their turn comes. Throws Problem 404. */
  async remove(scope: TenantScope, id: string): Promise<void> {
    await scope.run(async ({ manager }) => {
      const { affected } = await manager.delete(SubscriptionEntity, { id: requireId(id) });
      if (affected === 0) throw noSubscription();
    });
  }

  /** rotate gives a subscription another secret and answers it, this once; the one before signs as well for a while. To repeat it with the same secret changes nothing. Throws Problem 404. */
  async rotate(scope: TenantScope, id: string, body: SecretBody): Promise<SubscriptionView & NewSecret> {
    const { overlap, secret = newSecret() } = body;
    return scope.run(async ({ manager, sql }) => {
      await sql.query(ROTATE, [requireId(id), secret, overlap]);
      return { ...subscriptionView(await shown(manager, id)), secret };
    });
  }
}

function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64url')}`;
}

function noSubscription(): Problem {
  return new Problem(404, 'There is no such subscription.');
}

/** What is no id is not asked for: the server would refuse U+0000. */
function requireId(id: string): string {
  if (ID.test(id)) return id;
  throw noSubscription();
}

/** The tenant is locked, so that two requests at once cannot both make the last one. */
async function requireRoom(manager: EntityManager, tenantId: string): Promise<void> {
  await manager.findOne(TenantEntity, { lock: { mode: 'for_no_key_update' }, where: { id: tenantId } });
  if ((await manager.count(SubscriptionEntity)) >= MAX_SUBSCRIPTIONS)
    throw new Problem(409, `You have ${MAX_SUBSCRIPTIONS} subscriptions, the most there can be: delete one first.`);
}

async function shown(manager: EntityManager, id: string): Promise<Pick<SubscriptionEntity, keyof typeof SHOWN>> {
  const found = await manager.findOne(SubscriptionEntity, { select: SHOWN, where: { id: requireId(id) } });
  if (!found) throw noSubscription();
  return found;
}
