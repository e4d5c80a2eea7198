import { createHmac } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import { HookServer, type Delivery } from './hook.server.js';
import { HubProcesses } from './hub.processes.js';
import type { HubTenant } from './hub.tenant.js';

const KIND = 'webhook.deliver';

describe('the secret of a subscription', () => {
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
    await hub.startWorker({ LOG_LEVEL: 'debug' });
  });

  afterAll(async () => {
    await hub.stop();
    await receiver.stop();
    await database.drop();
  });

  async function delivered(id: string): Promise<Delivery> {
    const job = await tenant.post({ id, payload: {}, type: 'push' }, KIND);
    await tenant.jobUntil(job, 'delivered', ({ state }) => state === 'SUCCEEDED');
    return receiver.deliveriesOf(id)[0]!;
  }

  function signature({ body, headers }: Delivery, secret: string): string {
    const signed = `${String(headers['x-holdfast-timestamp'])}.${String(headers['x-holdfast-delivery'])}.${body}`;
    return `v1=${createHmac('sha256', secret).update(signed).digest('hex')}`;
  }

  it('D7, H5: during an exchange both verify, afterwards the new one alone', async () => {
    const { id, secret: old } = await tenant.subscribe(receiver.url, '*');
    const before = await delivered('before');
    expect(before.headers['x-holdfast-signature']).toBe(signature(before, old));

    const answer = await tenant.request('POST', `/subscriptions/${id}/secret`, {});
    const { secret } = answer.body as { secret: string };
    expect(secret).not.toBe(old);
    const during = await delivered('during');
    const both = [signature(during, secret), signature(during, old)];
    expect(during.headers['x-holdfast-signature']).toBe(both.join(','));

    await database.adminQuery("UPDATE subscription SET previous_secret_until = now() - interval '1 second'");
    const after = await delivered('after');
    expect(after.headers['x-holdfast-signature']).toBe(signature(after, secret));

    const log = hub.started.flatMap(({ lines }) => lines).join('\n');
    for (const each of [old, secret]) expect(log).not.toContain(each);
  });
});
