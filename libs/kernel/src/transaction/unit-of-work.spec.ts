import { InvalidTransactionOptionError } from '../errors/invalid-transaction-option.error.js';
import { TenantRefusedError } from '../errors/tenant-refused.error.js';
import { Database } from './database.js';
import { UnitOfWork } from './unit-of-work.js';

/** It counts how often somebody wanted a transaction. */
class CountingDatabase extends Database {
  begun = 0;
  readonly identity = this;
  readonly poolSize = 1;
  begin(): Promise<never> {
    this.begun += 1;
    return Promise.reject(new Error('There is no server here.'));
  }
  connectionConfig(): object {
    return {};
  }
}

describe('UnitOfWork', () => {
  const work = () => Promise.resolve();

  it.each<[string, unknown]>([
    ['is empty', ''],
    ['is over 200 bytes', 'x'.repeat(201)],
    ['is over 200 bytes', 'ü'.repeat(101)],
    ['contains U+0000', 'a\0'],
    ['contains U+0000 or a lone surrogate', '\uD800'],
    ['must be a string', 7],
  ])('Q2, T2: a tenant that %s is refused before anything is sent', async (reason, tenantId) => {
    const database = new CountingDatabase();
    const unit = new UnitOfWork(database, { tenantSetting: 'app.tenant' });
    const refused: unknown = await unit.run(work, { tenantId: tenantId as string }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(TenantRefusedError);
    expect((refused as Error).message).toContain(reason);
    expect(database.begun).toBe(0);
  });

  it('T2: while tenancy is off a tenant is refused with the option that turns it on; none is not', async () => {
    const database = new CountingDatabase();
    const unit = new UnitOfWork(database);
    await expect(unit.run(work, { tenantId: 'acme' })).rejects.toThrow(/tenancy is off.*option tenancy/);
    expect(database.begun).toBe(0);
    for (const tenantId of [null, undefined]) {
      await expect(unit.run(work, { tenantId })).rejects.toThrow('There is no server here.');
    }
    expect(database.begun).toBe(2);
  });

  it.each<[string, unknown]>([
    ['isolationLevel is no option, did you mean isolation', { isolationLevel: 'SERIALIZABLE' }],
    ['retries is no option, those there are: acquireTimeoutMs, isolation, readOnly, tenantId', { retries: 3 }],
    ['isolation must be one of READ COMMITTED, REPEATABLE READ, SERIALIZABLE', { isolation: 'serializable' }],
    ['must be an object, not SERIALIZABLE', 'SERIALIZABLE'],
  ])('an option is refused before anything is sent: %s', async (reason, options) => {
    const database = new CountingDatabase();
    const refused: unknown = await new UnitOfWork(database)
      .run(work, options as object)
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(InvalidTransactionOptionError);
    expect((refused as Error).message).toContain(`${reason}.`);
    expect(database.begun).toBe(0);
  });

  it('Q2: a tenant of 200 bytes is taken', async () => {
    const unit = new UnitOfWork(new CountingDatabase(), { tenantSetting: 'app.tenant' });
    await expect(unit.run(work, { tenantId: 'ü'.repeat(100) })).rejects.toThrow('There is no server here.');
  });
});
