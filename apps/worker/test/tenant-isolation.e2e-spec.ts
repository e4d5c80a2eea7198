import { EventRecord, RetentionSweep, retentionSweep, WebhookDeliver } from '@holdfast/contracts';
import { createTestDatabase, waitFor, type TestDatabase } from '@holdfast/testing';
import { HookServer } from './hook.server.js';
import { HubProcesses } from './hub.processes.js';
import { HubQueue } from './hub.queue.js';
import type { HubTenant } from './hub.tenant.js';

const DELIVER = 'webhook.deliver';

describe('T1: a handler sees nothing of another tenant', () => {
  let database: TestDatabase;
  let hub: HubProcesses;
  let queue: HubQueue;
  let mine: HubTenant;
  let theirs: HubTenant;
  const subscriptions: Record<'mine' | 'theirs', string> = { mine: '', theirs: '' };
  const receiver = new HookServer();

  beforeAll(async () => {
    database = await createTestDatabase();
    await receiver.start();
    hub = await HubProcesses.on(database, { ALLOW_PRIVATE_ADDRESSES: 'true' });
    await hub.startApi();
    queue = new HubQueue(database, hub.databaseUrl);
    [mine, theirs] = [await hub.tenant('mine'), await hub.tenant('theirs')];
    subscriptions.mine = (await mine.subscribe(receiver.url, '*')).id;
    subscriptions.theirs = (await theirs.subscribe(receiver.url, '*')).id;
    await hub.startWorker();
    for (const [tenant, id] of [
      [mine, 'of-mine'],
      [theirs, 'of-theirs'],
    ] as const) {
      const job = await tenant.post({ id, payload: {}, type: 'push' }, DELIVER);
      await tenant.jobUntil(job, 'delivered', ({ state }) => state === 'SUCCEEDED');
    }
  });

  afterAll(async () => {
    await queue.close();
    await hub.stop();
    await receiver.stop();
    await database.drop();
  });

  const ended = ({ state }: { state: string }) => state === 'FAILED' || state === 'SUCCEEDED';
  const deliver = (eventId: string, of: 'mine' | 'theirs') =>
    WebhookDeliver.request({ eventId, subscriptionId: subscriptions[of] });

  it.each([
    ["another's event", 'mine', 'of-theirs', 'mine', 'webhook.event_gone'],
    ["another's subscription", 'mine', 'of-mine', 'theirs', 'webhook.subscription_gone'],
    ["another's event and subscription", 'mine', 'of-theirs', 'theirs', 'webhook.event_gone'],
    ['any event, in a job of the system', null, 'of-mine', 'mine', 'webhook.event_gone'],
  ] as const)('T1: webhook.deliver does not find %s, and sends nothing', async (_, tenantId, eventId, of, code) => {
    const before = receiver.connections;
    const id = await queue.enqueue(tenantId, deliver(eventId, of));
    expect(await queue.until(id, 'at its end', ended)).toMatchObject({ errorCode: code, state: 'FAILED', tenantId });
    expect(receiver.connections).toBe(before);
  });

  it('T1: webhook.deliver completes the row of its own tenant, when ids are the same', async () => {
    const same = { id: 'same', payload: {}, type: 'push' };
    receiver.reply('same', { status: 204 }, { status: 410 });
    const first = await mine.post(same, DELIVER);
    await mine.jobUntil(first, 'delivered', ({ state }) => state === 'SUCCEEDED');
    const second = await theirs.post(same, DELIVER);
    await theirs.jobUntil(second, 'dead', ({ state }) => state === 'DEAD_LETTER');
    const text = "SELECT tenant_id, status FROM delivery WHERE event_id = 'same' ORDER BY tenant_id";
    expect(await database.adminQuery(text)).toEqual([
      { status: 204, tenant_id: 'mine' },
      { status: null, tenant_id: 'theirs' },
    ]);
  });

  it('T1: event.record counts for its own tenant, in a repository of the same name, and not at all in a job of the system', async () => {
    const counted = () =>
      database.adminQuery(
        "SELECT tenant_id, events FROM repository_statistics WHERE repository = 'octo/same' ORDER BY tenant_id",
      );
    const record = (eventId: string) =>
      EventRecord.request({ eventId, receivedAt: '2026-01-01T00:00:00.000Z', repository: 'octo/same', type: 'push' });
    for (const tenantId of ['mine', 'theirs', 'mine']) {
      const id = await queue.enqueue(tenantId, record('counted'));
      expect(await queue.until(id, 'counted', ended)).toMatchObject({ state: 'SUCCEEDED' });
    }
    const id = await queue.enqueue(null, record('counted'));
    expect(await queue.until(id, 'refused', ended)).toMatchObject({
      errorCode: 'event.tenant_missing',
      state: 'FAILED',
    });
    expect(await counted()).toEqual([
      { events: '2', tenant_id: 'mine' },
      { events: '1', tenant_id: 'theirs' },
    ]);
  });

  it("T1: retention.sweep leaves what is old of another tenant's, and a job of the system finds no tenant at all", async () => {
    await database.adminQuery(
      `INSERT INTO event (tenant_id, id, type, payload, jobs, received_at)
       SELECT tenant, 'old-' || n, 'push', '{}', '[]', now() - interval '40 days'
       FROM unnest(ARRAY['mine', 'theirs']) AS tenant, generate_series(1, 3) AS n`,
    );
    const old = () =>
      database.adminQuery(
        "SELECT tenant_id, count(*)::int AS events FROM event WHERE id LIKE 'old-%' GROUP BY tenant_id ORDER BY tenant_id",
      );
    const ofSystem = await queue.enqueue(null, RetentionSweep.request({}));
    const refused = { errorCode: 'retention.tenant_gone', state: 'FAILED' };
    expect(await queue.until(ofSystem, 'refused', ended)).toMatchObject(refused);
    expect(await old()).toHaveLength(2);
    await queue.enqueue('mine', retentionSweep());
    await waitFor(async () => (await old()).length === 1, { what: 'the sweep of mine' });
    expect(await old()).toEqual([{ events: 3, tenant_id: 'theirs' }]);
  });
});
