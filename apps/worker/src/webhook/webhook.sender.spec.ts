import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AddressRefusedError } from './address.refused.error.js';
import type { ResolveAll } from './guarded.lookup.js';
import { WebhookSender, type WebhookSenderOptions } from './webhook.sender.js';

/** Answers as a name server would that an attacker owns. */
function resolvesTo(...addresses: string[]): ResolveAll {
  return (_, __, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
}

describe('WebhookSender', () => {
  const servers: Server[] = [];

  async function listen(listener: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<number> {
    const server = createServer((request, response) => void listener(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    return (server.address() as AddressInfo).port;
  }

  function post(url: string, options: WebhookSenderOptions, signal = new AbortController().signal) {
    return new WebhookSender(options).send({
      body: '{"a":"é"}',
      headers: { 'X-Test': 'yes' },
      signal,
      url: new URL(url),
    });
  }

  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  it('posts the body with its headers and answers the status', async () => {
    const seen: string[] = [];
    const port = await listen(async (request, response) => {
      for await (const chunk of request) seen.push(String(chunk));
      seen.push(String(request.headers['x-test']), String(request.method));
      response.writeHead(503, { 'Retry-After': '5' }).end('busy');
    });
    const reply = await post(`http://127.0.0.1:${port}/hook`, { allowPrivateAddresses: true });
    expect(reply).toEqual({ retryAfter: '5', status: 503 });
    expect(seen).toEqual(['{"a":"é"}', 'yes', 'POST']);
  });

  it.each([
    'http://127.0.0.1',
    'http://2130706433',
    'http://0x7f.1',
    'http://0',
    'http://[::1]',
    'http://[::ffff:127.0.0.1]',
    'http://localhost',
  ])('D7: %s is refused without a connection', async (origin) => {
    let connections = 0;
    const port = await listen(() => undefined);
    servers[0]?.on('connection', () => connections++);
    await expect(post(`${origin}:${port}/`, {})).rejects.toThrow(AddressRefusedError);
    expect(connections).toBe(0);
  });

  it('D7: a public name that resolves to a private address at the moment of the connection is refused', async () => {
    const port = await listen((_, response) => response.end());
    await expect(post(`http://rebound.example:${port}/`, { resolveAll: resolvesTo('127.0.0.1') })).rejects.toThrow(
      AddressRefusedError,
    );
    await expect(
      post(`http://rebound.example:${port}/`, { resolveAll: resolvesTo('::1', '10.0.0.1') }),
    ).rejects.toThrow(AddressRefusedError);
  });

  it('D7: follows no redirect', async () => {
    let hits = 0;
    const port = await listen((_, response) => {
      hits++;
      response.writeHead(302, { Location: '/elsewhere' }).end();
    });
    const reply = await post(`http://127.0.0.1:${port}/`, { allowPrivateAddresses: true });
    expect(reply.status).toBe(302);
    expect(hits).toBe(1);
  });

  it('ends with the signal while the receiver says nothing', async () => {
    const stop = new AbortController();
    const port = await listen(() => stop.abort(new Error('too late')));
    await expect(post(`http://127.0.0.1:${port}/`, { allowPrivateAddresses: true }, stop.signal)).rejects.toThrow();
  });

  it('does not read an answer without end', async () => {
    const port = await listen((_, response) => {
      response.writeHead(200);
      const flood = () => response.writable && response.write(Buffer.alloc(32_768), flood);
      response.on('error', () => undefined);
      flood();
    });
    await expect(post(`http://127.0.0.1:${port}/`, { allowPrivateAddresses: true })).resolves.toMatchObject({
      status: 200,
    });
  });

  it('rejects with the error of a connection that is refused', async () => {
    const port = await listen(() => undefined);
    servers[0]?.close();
    await expect(post(`http://127.0.0.1:${port}/`, { allowPrivateAddresses: true })).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });
  });
});
