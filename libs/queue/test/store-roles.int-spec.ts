import { randomUUID } from 'node:crypto';
import { ControlConnections, pgPool } from '@holdfast/kernel';
import { enqueueGrantsFor, grantsFor } from '@holdfast/migrations';
import { createTestDatabase, type TestDatabase, type TestRole } from '@holdfast/testing';
import { PostgresJobStore } from '../src/postgres/postgres.job-store.js';
import { failure, KIND, order, request } from '../src/testing/job-store.harness.js';
import { SCHEMA } from './store.harness.js';

describe('the PostgreSQL job store as a role of few rights', () => {
  let database: TestDatabase;
  let producer: TestRole;
  let application: TestRole;
  const stores: PostgresJobStore[] = [];

  const storeOf = (role: TestRole): PostgresJobStore => {
    const config = { connectionString: role.url };
    const connections = () => new ControlConnections(config, { applicationName: 'roles', deadlineMs: 20_000, max: 1 });
    const store = new PostgresJobStore({ connections: connections(), keeper: connections(), schema: SCHEMA });
    stores.push(store);
    return store;
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    await database.adminQuery('REVOKE ALL ON SCHEMA public FROM PUBLIC');
    [producer, application] = await Promise.all([database.createRole(), database.createRole()]);
    const grants = [...enqueueGrantsFor(SCHEMA.name, producer.name), ...grantsFor(SCHEMA.name, application.name)];
    for (const statement of grants) await database.adminQuery(statement);
  });

  afterAll(async () => {
    for (const store of stores) await store.close();
    await database.drop();
  });

  it('Q9: a producer enqueues one and many, with a key and without, and does nothing else', async () => {
    const store = storeOf(producer);
    const many = [request(), request({ dedupeKey: 'a' }), request({ dedupeKey: 'a' }), request({ dueInMs: 60_000 })];
    const answers = await store.enqueueNow(many);
    expect(answers.map(({ disposition }) => disposition)).toEqual(['created', 'created', 'existing', 'created']);
    expect(await store.enqueueNow([request()])).toHaveLength(1);
    for (const verb of [store.claim(order()), store.intake(10), store.reap([KIND], 10), store.depth([KIND])]) {
      await expect(verb).rejects.toMatchObject({ code: '42501' });
    }
  });

  it('C2: an application does all that a store does', async () => {
    const store = storeOf(application);
    await store.enqueueNow([request({ dedupeKey: 'b' }), request({ dedupeKey: 'b' }), request(), request(), request()]);
    await store.intake(100);
    const [first, second, third, ...others] = await store.claim(order());
    expect(others.length).toBeGreaterThan(0);
    expect(await store.renew([first!.lease], 60_000)).toHaveLength(1);
    expect(await store.hold(first!.lease)).toBe(true);
    expect(await store.verdict(first!.lease, 1)).toBe('held');
    const pool = database.pool({ connectionString: application.url });
    const transaction = await pgPool(pool).begin({ settings: { 'holdfast.run': first!.lease.token } });
    await store.completeIn(transaction, first!.lease, { outcome: null, verb: 'complete' });
    const retried = { delayMs: 0, failure: failure(), verb: 'retry' } as const;
    expect(await store.settle([{ lease: second!.lease, settlement: retried }])).toEqual([true]);
    const buried = { failure: failure(), verb: 'bury' } as const;
    expect(await store.settle([{ lease: third!.lease, settlement: buried }])).toEqual([true]);
    expect(await store.giveBackClaim(others[0]!.lease.token)).toBe(others.length);
    expect(await store.claimSuspect(order({ token: randomUUID() }))).toBeUndefined();
    await store.reap([KIND], 10);
    expect(await store.suspectsDue([KIND])).toBe(0);
    expect(await store.unknownKinds(['other.kind'])).toEqual([KIND]);
    expect(await store.depth([KIND])).toMatchObject([{ kind: KIND }]);
  });
});
