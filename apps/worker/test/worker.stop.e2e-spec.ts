import { once } from 'node:events';
import { connect } from 'node:net';
import { createEmptyDatabase } from '@holdfast/testing';
import { HubProcesses } from './hub.processes.js';

describe('The worker at a stop', () => {
  it('K56: is not held up by a probe that never finishes, and a second signal changes nothing', async () => {
    const db = await createEmptyDatabase();
    const worker = await (await HubProcesses.on(db)).startWorker();
    const port = /:(\d+)/.exec((await worker.line('Health on http')).slice(-40))?.[1];
    const probe = connect(Number(port), '127.0.0.1');
    const cut = once(probe, 'close');
    await once(probe, 'connect');
    probe.write('GET /health/ready HTTP/1.1\r\nHost: wor');
    worker.signal('SIGTERM');
    worker.signal('SIGTERM');
    expect(await worker.exit(10_000)).toEqual({ code: 0, signal: null });
    await cut;
    expect(await db.backends()).toEqual([]);
    await db.drop();
  });

  it('K118: a signal in the middle of the start ends it, and leaves nothing', async () => {
    const db = await createEmptyDatabase();
    const worker = (await HubProcesses.on(db)).spawnWorker();
    await worker.line('QueueModule dependencies initialized');
    worker.signal('SIGTERM');
    await worker.exit(10_000);
    expect(worker.lines.filter((line) => /Running \d|unhandled|UnhandledPromise/i.test(line))).toEqual([]);
    await db.drop();
  });
});
