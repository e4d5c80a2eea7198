import { createTestDatabase, waitFor, type SpawnedProcess, type TestDatabase } from '@holdfast/testing';
import { HookServer } from './hook.server.js';
import { HubProcesses } from './hub.processes.js';

const KIND = 'webhook.deliver';

describe('a worker that is told to stop twice', () => {
  let database: TestDatabase;
  let hub: HubProcesses;
  const receiver = new HookServer();

  beforeAll(async () => {
    database = await createTestDatabase();
    await receiver.start();
    hub = new HubProcesses({
      ALLOW_PRIVATE_ADDRESSES: 'true',
      DATABASE_URL: database.url,
      WEBHOOK_SECRET: 'a-secret-of-the-tests',
      WEBHOOK_URL: receiver.url,
    });
    await hub.startApi();
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
    const job = await hub.post({ id, payload: {}, type: 'push' }, KIND);
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
      const left = await hub.post({ id: `left-${signal}`, payload: {}, type: 'push' }, KIND);
      expect(await hub.job(job)).toMatchObject({ attempts: 1, state: 'RUNNING' });
      answer();
      expect(await worker.exit()).toEqual({ code: 0, signal: null });
      expect(await hub.job(job)).toMatchObject({ attempts: 1, state: 'SUCCEEDED' });
      expect(receiver.deliveriesOf(`twice-${signal}`)).toHaveLength(1);
      // No new claim: what came after the first signal waits, untouched.
      expect(await hub.job(left)).toMatchObject({ attempts: 0, state: 'PENDING' });
    },
  );
});
