import { createTestDatabase, waitFor, type SpawnedProcess, type TestDatabase } from '@holdfast/testing';
import { HookServer } from './hook.server.js';
import { HubProcesses } from './hub.processes.js';
import type { HubTenant } from './hub.tenant.js';

const KIND = 'webhook.deliver';

describe('a worker that is told to stop twice', () => {
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

  /** draining answers a worker in the middle of a delivery, which has been told to stop, and what lets the delivery end. */
  async function draining(id: string): Promise<{ answer: () => void; job: string; worker: SpawnedProcess }> {
    const worker = await hub.startWorker();
    let answer: () => void = () => undefined;
    receiver.reply(id, { after: new Promise<void>((resolve) => (answer = resolve)), status: 204 });
    const job = await tenant.post({ id, payload: {}, type: 'push' }, KIND);
    await waitFor(() => receiver.deliveriesOf(id).length === 1, { what: 'the delivery to arrive' });
    worker.signal('SIGTERM');
    await worker.line('Draining: ');
    return { answer, job, worker };
  }

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'K56: a second signal (%s) changes nothing: the running job ends within the grace, and the process with 0',
    async (signal) => {
      const { answer, job, worker } = await draining(`twice-${signal}`);
      worker.signal(signal);
      // It is alive, and still answers: the signal has come and was not its end.
      const left = await tenant.post({ id: `left-${signal}`, payload: {}, type: 'push' }, KIND);
      expect(await tenant.job(job)).toMatchObject({ attempts: 1, state: 'RUNNING' });
      answer();
      expect(await worker.exit()).toEqual({ code: 0, signal: null });
      expect(await tenant.job(job)).toMatchObject({ attempts: 1, state: 'SUCCEEDED' });
      expect(receiver.deliveriesOf(`twice-${signal}`)).toHaveLength(1);
      // No new claim: what came after the first signal waits, untouched.
      expect(await tenant.job(left)).toMatchObject({ attempts: 0, state: 'PENDING' });
    },
  );
});
