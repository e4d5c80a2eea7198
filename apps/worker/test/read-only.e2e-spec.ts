import { createTestDatabase, waitFor, type SpawnedProcess, type TestDatabase } from '@holdfast/testing';
import { HubProcesses } from './hub.processes.js';
import type { HubTenant } from './hub.tenant.js';

const KIND = 'event.record';

describe('the worker on a server that has become read-only, as after a failover', () => {
  let database: TestDatabase;
  let hub: HubProcesses;
  let tenant: HubTenant;
  let worker: SpawnedProcess;

  beforeAll(async () => {
    database = await createTestDatabase();
    hub = await HubProcesses.on(database);
    await hub.startApi();
    tenant = await hub.tenant();
    worker = await hub.startWorker();
  });
  afterAll(async () => {
    await hub.stop();
    await database.drop();
  });

  it('K33: is not ready, loses no job, and recovers without a restart', async () => {
    const url = /http:[\w.:/]+/.exec(await worker.line('Health on http'))![0];
    const ready = (status: number) =>
      waitFor(async () => (await fetch(url)).status === status, { what: `the worker to answer ${status}` });
    const event = (id: string) => tenant.post({ id, payload: {}, type: 'push' }, KIND);
    await tenant.jobUntil(await event('before'), 'done', ({ state }) => state === 'SUCCEEDED');
    await ready(200);
    await database.adminQuery(`ALTER DATABASE "${database.name}" SET default_transaction_read_only = on`);
    await database.terminateBackends();
    await ready(503);
    await database.adminQuery(`ALTER DATABASE "${database.name}" RESET default_transaction_read_only`);
    await ready(200);
    const id = await waitFor(() => event('after').catch(() => undefined), { what: 'the api to take an event' });
    expect(await tenant.jobUntil(id, 'done', ({ state }) => state === 'SUCCEEDED')).toMatchObject({ attempts: 1 });
  });
});
