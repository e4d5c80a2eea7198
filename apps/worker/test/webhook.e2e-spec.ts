import { createHmac } from 'node:crypto';
import { createTestDatabase, freePort, waitFor, type SpawnedProcess, type TestDatabase } from '@holdfast/testing';
import { HookServer } from './hook.server.js';
import { HubProcesses } from './hub.processes.js';
import type { HubTenant } from './hub.tenant.js';

const KIND = 'webhook.deliver';

describe('webhook.deliver', () => {
  let database: TestDatabase;
  let hub: HubProcesses;
  let tenant: HubTenant;
  let subscription: { id: string; secret: string };
  const receiver = new HookServer();
  let worker: SpawnedProcess | undefined;

  beforeAll(async () => {
    database = await createTestDatabase();
    await receiver.start();
    hub = await HubProcesses.on(database, { ALLOW_PRIVATE_ADDRESSES: 'true' });
    await hub.startApi();
    tenant = await hub.tenant();
    subscription = await tenant.subscribe(receiver.url, '*');
  });

  afterEach(async () => {
    if (worker && !worker.exited) await worker.stop();
    worker = undefined;
  });

  afterAll(async () => {
    await hub.stop();
    await receiver.stop();
    await database.drop();
  });

  it('D7: posts the event with a signature over timestamp, delivery id and body', async () => {
    worker = await hub.startWorker();
    const payload = { repository: { full_name: 'octo-org/octo-repo' }, text: 'é\u0000' };
    const id = await tenant.post({ id: 'signed', payload, type: 'push' }, KIND);
    const job = await tenant.jobUntil(id, 'delivered', ({ state }) => state === 'SUCCEEDED');
    expect(job).toMatchObject({ attempts: 1, outcome: 'webhook.delivered' });

    expect(receiver.deliveriesOf('signed')).toHaveLength(1);
    const { body, headers } = receiver.deliveriesOf('signed')[0]!;
    expect(JSON.parse(body)).toMatchObject({ id: 'signed', payload, repository: 'octo-org/octo-repo', type: 'push' });
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-holdfast-delivery': id,
      'x-holdfast-event': 'push',
    });
    const timestamp = String(headers['x-holdfast-timestamp']);
    expect(Math.abs(Date.now() / 1_000 - Number(timestamp))).toBeLessThan(60);
    const digest = createHmac('sha256', subscription.secret).update(`${timestamp}.${id}.${body}`).digest('hex');
    expect(headers['x-holdfast-signature']).toBe(`v1=${digest}`);
    const recorded = await database.adminQuery(
      `SELECT job_id, status, attempt, subscription_id, delivered_at >= created_at AS delivered FROM delivery WHERE event_id = 'signed'`,
    );
    expect(recorded).toEqual([
      { attempt: 1, delivered: true, job_id: id, status: 204, subscription_id: subscription.id },
    ]);
  });

  it('R9: tries again when the receiver says, not when the backoff would', async () => {
    worker = await hub.startWorker();
    receiver.reply('later', { retryAfter: '1', status: 503 });
    const id = await tenant.post({ id: 'later', payload: {}, type: 'push' }, KIND);
    const job = await tenant.jobUntil(id, 'delivered', ({ state }) => state === 'SUCCEEDED');
    expect(job.attempts).toBe(2);
    const [first, second] = receiver.deliveriesOf('later');
    expect(second!.arrivedAt - first!.arrivedAt).toBeGreaterThanOrEqual(990);
    // The definition's first delay is ten seconds.
    expect(second!.arrivedAt - first!.arrivedAt).toBeLessThan(8_000);
    expect(second!.headers['x-holdfast-delivery']).toBe(first!.headers['x-holdfast-delivery']);
  });

  it('R10: an answer that will never change ends in the dead letter at once', async () => {
    worker = await hub.startWorker();
    receiver.reply('gone', { status: 410 });
    const id = await tenant.post({ id: 'gone', payload: {}, type: 'push' }, KIND);
    const job = await tenant.jobUntil(id, 'dead', ({ state }) => state === 'DEAD_LETTER');
    expect(job).toMatchObject({ attempts: 1, error: 'webhook.status_410' });
    expect(receiver.deliveriesOf('gone')).toHaveLength(1);
  });

  it('R10: a receiver that is not reached costs no attempt', async () => {
    worker = await hub.startWorker();
    const other = await hub.tenant();
    await other.subscribe(`http://127.0.0.1:${await freePort()}/hook`, '*');
    const id = await other.post({ id: 'unreached', payload: {}, type: 'push' }, KIND);
    const job = await other.jobUntil(id, 'deferred', ({ error }) => error === 'webhook.unreachable');
    expect(job).toMatchObject({ attempts: 0, state: 'PENDING' });
  });

  it('D7: a private address is refused unless private addresses are allowed', async () => {
    worker = await hub.startWorker({ ALLOW_PRIVATE_ADDRESSES: 'false' });
    const before = receiver.connections;
    const id = await tenant.post({ id: 'private', payload: {}, type: 'push' }, KIND);
    const job = await tenant.jobUntil(id, 'refused', ({ state }) => state === 'DEAD_LETTER');
    expect(job).toMatchObject({ attempts: 1, error: 'webhook.address_refused' });
    expect(receiver.connections).toBe(before);
  });

  it('K56: a stop lets a delivery in flight finish, and the process ends with 0', async () => {
    worker = await hub.startWorker();
    let answer: () => void = () => undefined;
    receiver.reply('stopped', { after: new Promise<void>((resolve) => (answer = resolve)), status: 204 });
    const id = await tenant.post({ id: 'stopped', payload: {}, type: 'push' }, KIND);
    await waitFor(() => receiver.deliveriesOf('stopped').length === 1, { what: 'the delivery to arrive' });
    const ended = worker.stop();
    await worker.line('Draining: ');
    answer();
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(await tenant.job(id)).toMatchObject({ attempts: 1, state: 'SUCCEEDED' });
    expect(receiver.deliveriesOf('stopped')).toHaveLength(1);
  });

  it('K56: what outlasts the grace goes back with its attempt, for the next worker at once', async () => {
    worker = await hub.startWorker({ GRACE: '200ms' });
    receiver.reply('outlasted', { after: new Promise(() => undefined), status: 204 });
    const id = await tenant.post({ id: 'outlasted', payload: {}, type: 'push' }, KIND);
    await waitFor(() => receiver.deliveriesOf('outlasted').length === 1, { what: 'the delivery to arrive' });
    expect(await worker.stop()).toEqual({ code: 0, signal: null });
    expect(await tenant.job(id)).toMatchObject({ attempts: 0, state: 'PENDING' });
    worker = await hub.startWorker();
    expect(await tenant.jobUntil(id, 'delivered', ({ state }) => state === 'SUCCEEDED')).toMatchObject({ attempts: 1 });
  });

  it('logs neither secrets nor payloads', () => {
    const text = hub.started.flatMap((each) => each.lines).join('\n');
    expect(text).toContain('Health on http');
    const password = new URL(hub.databaseUrl).password;
    for (const secret of [subscription.secret, `:${password}@`, 'octo-org/octo-repo'])
      expect(text).not.toContain(secret);
  });
});
