import { createTestDatabase, waitFor, type TestDatabase } from '@holdfast/testing';
import { HookServer } from './hook.server.js';
import { HubProcesses } from './hub.processes.js';
import type { HubTenant } from './hub.tenant.js';

const KIND = 'webhook.deliver';

describe('webhook.deliver for a subscription that is off', () => {
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
  });

  afterAll(async () => {
    await hub.stop();
    await receiver.stop();
    await database.drop();
  });

  const event = (id: string) => ({ id, payload: {}, type: 'issues.opened' });
  const ended = ({ state }: { state: string }) => state === 'FAILED';

  it('R12, H5: what was queued before a pause is refused, and says so; what comes after it resumes is delivered', async () => {
    const paused = await tenant.subscribe(receiver.url, '*');
    const other = await tenant.subscribe(receiver.url, 'issues.*');
    const jobs = await tenant.postAll(event('queued'), KIND);
    expect(jobs).toHaveLength(2);
    const path = `/subscriptions/${paused.id}`;
    expect((await tenant.request('PATCH', path, { paused: true })).status).toBe(200);

    const worker = await hub.startWorker();
    await waitFor(
      async () => {
        const all = await Promise.all(jobs.map((id) => tenant.job(id)));
        return all.every(({ state }) => state !== 'PENDING' && state !== 'RUNNING');
      },
      { what: 'both deliveries to be at their end' },
    );
    const all = await Promise.all(jobs.map((id) => tenant.job(id)));
    const [refused] = all.filter(ended);
    const rest = all.filter((job) => !ended(job));
    expect(refused).toMatchObject({
      error: 'webhook.subscription_paused',
      refusal: { code: 'webhook.subscription_paused', params: { pausedAt: expect.stringMatching(/^\d{4}-.*Z$/) } },
      state: 'FAILED',
    });
    expect(rest).toMatchObject([{ outcome: 'webhook.delivered', state: 'SUCCEEDED' }]);
    expect(receiver.deliveriesOf('queued')).toHaveLength(1);
    const told = (await tenant.request('GET', '/events/queued/deliveries')).body as { deliveries: unknown[] };
    expect(told.deliveries).toHaveLength(2);
    expect(told.deliveries).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          deliveredAt: null,
          error: 'webhook.subscription_paused',
          state: 'FAILED',
          subscriptionId: paused.id,
        }),
        expect.objectContaining({ error: null, state: 'SUCCEEDED', status: 204, subscriptionId: other.id }),
      ]),
    );

    await tenant.request('PATCH', path, { paused: false });
    for (const id of await tenant.postAll(event('resumed'), KIND))
      await tenant.jobUntil(id, 'delivered', ({ state }) => state === 'SUCCEEDED');
    expect(receiver.deliveriesOf('resumed')).toHaveLength(2);
    for (const { id } of [paused, other]) await tenant.request('DELETE', `/subscriptions/${id}`);
    await worker.stop();
  });

  it('R12: a pause between two tries stops the next one', async () => {
    const { id } = await tenant.subscribe(receiver.url, '*');
    const worker = await hub.startWorker();
    receiver.reply('between', { retryAfter: '1', status: 503 });
    const job = await tenant.post(event('between'), KIND);
    await tenant.jobUntil(job, 'waiting for its next try', ({ error }) => error === 'webhook.status_503');
    await tenant.request('PATCH', `/subscriptions/${id}`, { paused: true });
    expect(await tenant.jobUntil(job, 'refused', ended)).toMatchObject({ error: 'webhook.subscription_paused' });
    expect(receiver.deliveriesOf('between')).toHaveLength(1);
    await tenant.request('DELETE', `/subscriptions/${id}`);
    await worker.stop();
  });

  it('R12: a subscription that was deleted, or no longer takes the type, gets nothing that was queued for it', async () => {
    const [deleted, changed] = [await tenant.subscribe(receiver.url, '*'), await tenant.subscribe(receiver.url, '*')];
    const jobs = await tenant.postAll(event('changed'), KIND);
    await tenant.request('DELETE', `/subscriptions/${deleted.id}`);
    await tenant.request('PATCH', `/subscriptions/${changed.id}`, { eventTypes: ['push', 'issues.opened.*'] });
    const worker = await hub.startWorker();
    const codes = [];
    for (const id of jobs) codes.push((await tenant.jobUntil(id, 'refused', ended)).error);
    expect(codes.sort()).toEqual(['webhook.subscription_gone', 'webhook.type_not_taken']);
    expect(receiver.deliveriesOf('changed')).toEqual([]);
    await worker.stop();
  });
});
