import { createTestDatabase, waitFor, type TestDatabase } from '@holdfast/testing';
import { HookServer } from './hook.server.js';
import { HubProcesses } from './hub.processes.js';
import type { HubTenant } from './hub.tenant.js';

const KIND = 'webhook.deliver';

describe('a worker that is killed in the middle of a delivery', () => {
  let database: TestDatabase;
  let hub: HubProcesses;
  let tenant: HubTenant;
  const receiver = new HookServer();

  beforeAll(async () => {
    database = await createTestDatabase();
    await receiver.start();
    hub = await HubProcesses.on(database, { ALLOW_PRIVATE_ADDRESSES: 'true' });
    await hub.startApi();
    tenant = await hub.tenant();
    await tenant.subscribe(receiver.url, '*');
  });

  afterAll(async () => {
    await hub.stop();
    await receiver.stop();
    await database.drop();
  });

  it('R7, R22: it arrives again under the same id, and is recorded once', async () => {
    const worker = await hub.startWorker();
    receiver.reply('cut', { after: new Promise(() => undefined), status: 204 });
    const id = await tenant.post({ id: 'cut', payload: {}, type: 'push' }, KIND);
    await waitFor(() => receiver.deliveriesOf('cut').length === 1, { what: 'the delivery to arrive' });
    await worker.kill();
    expect(await tenant.job(id)).toMatchObject({ attempts: 1, state: 'RUNNING' });
    const recorded = () => database.adminQuery("SELECT job_id, attempt, status FROM delivery WHERE event_id = 'cut'");
    expect(await recorded()).toEqual([{ attempt: null, job_id: id, status: null }]);

    await hub.startWorker();
    expect(await tenant.jobUntil(id, 'delivered', ({ state }) => state === 'SUCCEEDED')).toMatchObject({ attempts: 2 });
    const [first, second, ...more] = receiver.deliveriesOf('cut');
    expect(more).toEqual([]);
    expect(second!.headers['x-holdfast-delivery']).toBe(first!.headers['x-holdfast-delivery']);
    expect([first, second].map((each) => each!.headers['x-holdfast-attempt'])).toEqual(['1', '2']);
    expect(await recorded()).toEqual([{ attempt: 2, job_id: id, status: 204 }]);
  });
});
