import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createEmptyDatabase, spawnTs, waitFor, type TestDatabase } from '@holdfast/testing';
import { HubProcesses } from './hub.processes.js';

describe('the worker as a process', () => {
  let database: TestDatabase;
  let hub: HubProcesses;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    hub = await HubProcesses.on(database);
  });

  afterAll(async () => {
    await database.drop();
  });

  it('reports every problem of its configuration together, without a value, and ends with 1', async () => {
    const child = spawnTs('apps/worker/src/main.ts', {
      env: {
        DATABASE_URL: 'mysql://me:secret-word@localhost/hub',
        LEASE: 'long',
        SLOTS: '-1',
      },
    });
    expect(await child.exit()).toEqual({ code: 1, signal: null });
    const text = child.lines.join('\n');
    for (const variable of ['DATABASE_URL', 'LEASE', 'SLOTS']) expect(text).toContain(`- ${variable}: `);
    expect(text).not.toContain('secret-word');
  });

  it('says which port is taken, ends with 1, and leaves no connection', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const child = hub.spawnWorker({ PORT: String(port) });
    expect(await child.exit()).toEqual({ code: 1, signal: null });
    expect(child.lines.join('\n')).toContain(`PORT: ${port} on 127.0.0.1 is taken`);
    await waitFor(async () => (await database.backends()).length === 0, { what: 'the connections to be closed' });
    other.close();
  });

  it('M1: serves the series of its queue at /metrics, those of each of its kinds at zero', async () => {
    const worker = await hub.startWorker();
    const line = worker.lines.find((text) => text.includes('Health on http'))!;
    const response = await fetch(`${/http:\/\/[^/\s]+/.exec(line)![0]}/metrics`);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching(/^text\/plain; version=0\.0\.4/),
    ]);
    const text = await response.text();
    for (const kind of ['event.record', 'retention.sweep', 'webhook.deliver'])
      expect(text).toContain(`holdfast_jobs_dead_lettered_total{kind="${kind}"} 0`);
    await worker.stop();
  });

  it('T1: refuses to start as a role that bypasses row level security, with the remedy and without its password', async () => {
    const bypassing = await database.createRole({ attributes: 'BYPASSRLS' });
    for (const url of [bypassing.url, database.url]) {
      const child = hub.spawnWorker({ DATABASE_URL: url });
      expect(await child.exit()).toEqual({ code: 1, signal: null });
      const text = child.lines.join('\n');
      expect(text).toMatch(/DATABASE_URL: the role \S+ (is a superuser|has BYPASSRLS)/);
      expect(text).toContain('NOSUPERUSER NOBYPASSRLS');
      expect(text).not.toContain(`:${new URL(url).password}@`);
    }
  });

  it('starts on an empty database, answers for its health, and ends with 0 on SIGINT', async () => {
    const child = hub.spawnWorker();
    const line = await child.line('Health on http');
    const response = await fetch(urlIn(line));
    expect({ body: await response.json(), status: response.status }).toMatchObject({
      body: {
        details: {
          database: { status: 'up' },
          leadership: { status: 'up' },
          migrations: { status: 'up' },
          runner: { status: 'up' },
        },
        status: 'ok',
      },
      status: 200,
    });
    child.signal('SIGINT');
    expect(await child.exit()).toEqual({ code: 0, signal: null });
    await waitFor(async () => (await database.backends()).length === 0, { what: 'the connections to be closed' });
  });
});

/** A log may be coloured: the URL ends where the letters of one do. */
function urlIn(line: string): string {
  return /http:[\w.:/]+/.exec(line)?.[0] ?? '';
}
