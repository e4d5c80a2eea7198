import 'reflect-metadata';
import { UnitOfWork, type Transaction } from '@holdfast/queue';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { TenantScope } from '../src/access/tenant.scope.js';
import { EventAcceptance } from '../src/events/event.acceptance.js';
import { startApi } from '../src/start-api.js';

const EVENT = { id: 'old', payload: { n: 1 }, type: 'push' };

/** A scope whose tenant's events are removed just before it reads. */
class SweptScope extends TenantScope {
  constructor(
    unitOfWork: UnitOfWork,
    private readonly sweep: () => Promise<unknown>,
  ) {
    super('swept', unitOfWork);
  }

  override async read<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    await this.sweep();
    return super.read(work);
  }
}

describe('an event that is sent again while the one before is removed', () => {
  let app: NestExpressApplication;
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
    const { url: DATABASE_URL } = await database.createRole({ owner: true });
    app = await startApi({ DATABASE_URL, LOG_LEVEL: 'error', PORT: '0' });
  });

  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  it('H5: is accepted as a new one', async () => {
    const acceptance = app.get(EventAcceptance);
    const scope = new SweptScope(app.get(UnitOfWork), () => database.adminQuery('DELETE FROM event'));
    const before = await acceptance.accept(scope, EVENT);
    const again = await acceptance.accept(scope, EVENT);
    expect(again.jobs).toHaveLength(1);
    expect(again.jobs).not.toEqual(before.jobs);
    expect(await database.adminQuery('SELECT tenant_id, id FROM event')).toEqual([{ id: 'old', tenant_id: 'swept' }]);
  });
});
