import { createTestDatabase, waitFor, type TestDatabase } from '@holdfast/testing';
import type { ApiClient } from './api.client.js';
import { ApiProcess } from './api.process.js';

describe('the api on a server that has become read-only, as after a failover', () => {
  let database: TestDatabase;
  let api: ApiProcess;
  let tenant: ApiClient;

  beforeAll(async () => {
    database = await createTestDatabase();
    api = await ApiProcess.on(database);
    tenant = await api.tenant('a');
  });
  afterAll(async () => {
    await api.process.stop();
    await database.drop();
  });

  const ready = (status: number) =>
    waitFor(async () => (await api.anyone.get('/health/ready')).status === status, {
      what: `the api to answer ${status}`,
    });
  const post = (id: string) => tenant.post('/events', { id, payload: {}, type: 'push' });

  it('K33: is not ready, refuses events with 503, and recovers without a restart', async () => {
    await ready(200);
    expect((await post('before')).status).toBe(202);
    await database.adminQuery(`ALTER DATABASE "${database.name}" SET default_transaction_read_only = on`);
    await database.terminateBackends();
    await ready(503);
    expect((await api.anyone.get('/health/live')).status).toBe(200);
    expect(await post('during')).toMatchObject({ body: { status: 503 }, status: 503 });
    // Nobody ends the connections that were made meanwhile: they stay read-only for ever.
    await database.adminQuery(`ALTER DATABASE "${database.name}" RESET default_transaction_read_only`);
    await ready(200);
    expect((await post('after')).status).toBe(202);
    await database.adminQuery('SET default_transaction_read_only = off');
    const rows = await database.adminQuery<{ id: string }>('SELECT id FROM event ORDER BY id');
    expect(rows.map(({ id }) => id)).toEqual(['after', 'before']);
  });
});
