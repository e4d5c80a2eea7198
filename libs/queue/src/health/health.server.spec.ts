import { once } from 'node:events';
import { connect } from 'node:net';
import { HealthPortError } from '../errors/health-port.error.js';
import { HealthServer } from './health.server.js';
import type { Readiness } from './readiness.js';

const well: Readiness = { details: {}, error: {}, info: {}, status: 'ok' };

describe('HealthServer', () => {
  let server: HealthServer;
  const ask = async (path: string, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method });
    const text = await response.text();
    return {
      body: text === '' ? undefined : (JSON.parse(text) as unknown),
      headers: response.headers,
      status: response.status,
    };
  };

  beforeEach(async () => (server = await HealthServer.open({ host: '127.0.0.1', port: 0 })));
  afterEach(() => server.close());

  it('H1: live is 200 at the start, while it works, and during the drain; ready only while it works', async () => {
    const both = async () => [(await ask('/health/live')).status, await ask('/health/ready')] as const;
    expect(await both()).toMatchObject([200, { body: { status: 'starting' }, status: 503 }]);
    server.serve(() => Promise.resolve(well));
    expect(await both()).toMatchObject([200, { body: well, status: 200 }]);
    server.drain();
    expect(await both()).toMatchObject([200, { body: { status: 'draining' }, status: 503 }]);
    server.serve(() => Promise.resolve(well));
    expect(await both()).toMatchObject([200, { body: { status: 'draining' }, status: 503 }]);
  });

  it('K56: connections that ask nothing are ended, and do not keep probes out', async () => {
    const silent = Array.from({ length: 100 }, () => connect(server.port, '127.0.0.1').on('error', () => undefined));
    await Promise.all(silent.map((socket) => once(socket, 'connect')));
    const ended = silent.map((socket) => once(socket.resume(), 'close'));
    await expect(ask('/health/live')).rejects.toThrow();
    await Promise.all(ended);
    expect((await ask('/health/live')).status).toBe(200);
  }, 20_000);

  it('M1: /metrics is 404 without a source, its text with one at any time, and 503 where it fails', async () => {
    expect((await ask('/metrics')).status).toBe(404);
    let text: () => Promise<string> = () => Promise.resolve('"a 1"');
    const metrics = { contentType: 'text/plain', metrics: () => text() };
    const scraped = await HealthServer.open({ host: '127.0.0.1', metrics, port: 0 });
    await server.close();
    server = scraped;
    expect(await ask('/metrics')).toMatchObject({ body: 'a 1', status: 200 });
    server.drain();
    expect((await ask('/metrics')).headers.get('content-type')).toBe('text/plain');
    expect((await ask('/metrics', 'POST')).status).toBe(405);
    text = () => Promise.reject(new Error('secret'));
    expect(await ask('/metrics')).toMatchObject({ body: { status: 'error' }, status: 503 });
  });

  it('H1: degraded is 200, error is 503', async () => {
    let status: Readiness['status'] = 'degraded';
    server.serve(() => Promise.resolve({ ...well, status }));
    expect(await ask('/health/ready')).toMatchObject({ body: { status: 'degraded' }, status: 200 });
    status = 'error';
    expect(await ask('/health/ready')).toMatchObject({ body: { status: 'error' }, status: 503 });
  });

  it('H1: a check that was under way when the drain began answers for the drain', async () => {
    let answer: (readiness: Readiness) => void = () => undefined;
    const asked = new Promise<void>((resolve) =>
      server.serve(() => {
        resolve();
        return new Promise((done) => (answer = done));
      }),
    );
    const ready = ask('/health/ready');
    await asked;
    server.drain();
    answer(well);
    expect(await ready).toMatchObject({ body: { status: 'draining' }, status: 503 });
  });

  it('serves nothing else, keeps nothing in caches, and answers HEAD', async () => {
    expect((await ask('/')).status).toBe(404);
    expect((await ask('/health')).status).toBe(404);
    expect(await ask('/health/live', 'POST')).toMatchObject({ status: 405 });
    const { body, headers, status } = await ask('/health/live?x=1', 'HEAD');
    expect([body, status, headers.get('cache-control')]).toEqual([undefined, 200, 'no-store']);
  });

  it('K56: a client that never ends its request holds up no close', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write('GET /health/live HTTP/1.1\r\nHost:');
    const ended = new Promise((resolve) => socket.on('close', resolve));
    await server.close();
    await server.close();
    await ended;
  });

  it.each<[string, () => { host: string; port: number }, RegExp]>([
    [
      'a port that is taken',
      () => ({ host: '127.0.0.1', port: server.port }),
      /The health port \d+ on 127\.0\.0\.1 .* is taken/,
    ],
    [
      'an address of another machine',
      () => ({ host: '192.0.2.1', port: 0 }),
      /healthHost is no address of this machine/,
    ],
    ['a port that is none', () => ({ host: '127.0.0.1', port: 70_000 }), /from 0 to 65535/],
  ])('H1: %s is refused with the remedy', async (_what, options, message) => {
    const opening = HealthServer.open(options());
    await expect(opening).rejects.toThrow(message);
    await expect(opening).rejects.toBeInstanceOf(HealthPortError);
  });
});
