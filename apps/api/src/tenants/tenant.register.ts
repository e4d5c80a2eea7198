import { retentionSweep } from '@holdfast/contracts';
import { ApiKeyEntity, TenantEntity } from '@holdfast/hub';
import { JobQueue, UnitOfWork } from '@holdfast/queue';
import { Injectable } from '@nestjs/common';
import { IsNull, type EntityManager } from 'typeorm';
import { hashOfKey, keyIdOf, newApiKey } from '../access/api-key.js';
import { Problem } from '../problems/problem.js';
import { TENANT_ID, type TenantBody, type TenantChange } from './tenant.body.js';
import { keyView, tenantView, type KeyView, type NewKey, type TenantView } from './tenant.view.js';

/** Enough to change over from one key to the next everywhere, and few enough to list. */
const MAX_KEYS = 100;
const REVOKE = `
  UPDATE api_key SET revoked_at = coalesce(revoked_at, now()) WHERE tenant_id = $1 AND left(hash, length($2)) = $2`;

/** TenantRegister makes tenants and their keys for operators. Each of its units of work runs under the one tenant that it is about. */
@Injectable()
export class TenantRegister {
  constructor(
    private readonly jobs: JobQueue,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** add makes a tenant with its first key and the poller that removes its old events, all or nothing. Throws Problem 409 where the id is taken. */
  async add(body: TenantBody): Promise<TenantView & NewKey> {
    return this.within(body.id, async (manager) => {
      const insertion = manager.createQueryBuilder().insert().into(TenantEntity).values(body).orIgnore();
      const inserted = await insertion.returning('id').execute();
      if ((inserted.raw as unknown[]).length === 0)
        throw new Problem(409, `There is a tenant ${body.id} already.`, [
          { field: 'id', message: 'this id is taken: choose another' },
        ]);
      await this.jobs.enqueue(retentionSweep());
      return {
        ...tenantView(await manager.findOneByOrFail(TenantEntity, { id: body.id })),
        ...(await addKey(manager, body.id)),
      };
    });
  }

  /** addKey makes another key for a tenant, beside those there are. Throws Problem 404, and 409 where there are too many. */
  async addKey(id: string): Promise<NewKey> {
    return this.within(id, async (manager) => {
      // Locked, so that two requests at once cannot both make the last one.
      await tenantOf(manager, id, { mode: 'for_no_key_update' });
      if ((await manager.countBy(ApiKeyEntity, { revokedAt: IsNull() })) >= MAX_KEYS)
        throw new Problem(409, `The tenant has ${MAX_KEYS} keys, the most there can be: revoke one first.`);
      return addKey(manager, id);
    });
  }

  async change(id: string, change: TenantChange): Promise<TenantView> {
    return this.within(id, async (manager) => {
      await manager.update(TenantEntity, { id }, change);
      // What has become old by it goes now, and not within the hour.
      if (change.retentionDays !== undefined) await this.jobs.enqueue(retentionSweep());
      return tenantView(await tenantOf(manager, id));
    });
  }

  async find(id: string): Promise<TenantView> {
    return this.within(id, async (manager) => tenantView(await tenantOf(manager, id)));
  }

  /** keys answers a tenant's keys, at most a hundred: all that open something, the newest first, before those that were revoked. */
  async keys(id: string): Promise<KeyView[]> {
    return this.within(id, async (manager) => {
      await tenantOf(manager, id);
      const order = { revokedAt: { direction: 'DESC', nulls: 'FIRST' }, createdAt: 'DESC', hash: 'ASC' } as const;
      const keys = await manager.find(ApiKeyEntity, { order, take: MAX_KEYS });
      return keys.map(keyView);
    });
  }

  /** revoke makes a key open nothing from its commit on. To repeat it is harmless. Throws Problem 404. */
  async revoke(id: string, keyId: string): Promise<void> {
    await this.unitOfWork.run(
      async (tx) => {
        const { rowCount } = await tx.sql.query(REVOKE, [id, keyId]);
        if (rowCount === 0) throw new Problem(404, 'The tenant has no such key.');
      },
      { tenantId: id },
    );
  }

  private async within<T>(id: string, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    if (!TENANT_ID.test(id)) throw noTenant();
    return this.unitOfWork.run((tx) => work(tx.manager), { tenantId: id });
  }
}

async function addKey(manager: EntityManager, tenantId: string): Promise<NewKey> {
  const apiKey = newApiKey();
  const hash = hashOfKey(apiKey);
  await manager.insert(ApiKeyEntity, { hash, tenantId });
  return { apiKey, keyId: keyIdOf(hash) };
}

async function tenantOf(
  manager: EntityManager,
  id: string,
  lock?: { mode: 'for_no_key_update' },
): Promise<TenantEntity> {
  const tenant = await manager.findOne(TenantEntity, { where: { id }, ...(lock && { lock }) });
  if (!tenant) throw noTenant();
  return tenant;
}

function noTenant(): Problem {
  return new Problem(404, 'There is no such tenant.');
}
