import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { AddressRefusedError } from '../src/webhook/address.refused.error.js';
import { WebhookSender, type WebhookReply } from '../src/webhook/webhook.sender.js';

/** answered posts to a server that answers like this, and answers what became of it, at the latest when the signal aborts. */
async function answered(answer: (socket: Socket) => void, signalMs = 10_000): Promise<WebhookReply | Error> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => answer(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const sender = new WebhookSender({ allowPrivateAddresses: true });
  try {
    return await sender.send({ body: '{}', headers: {}, signal: AbortSignal.timeout(signalMs), url });
  } catch (error) {
    return error as Error;
  } finally {
    server.close();
  }
}

const NONE = 'Content-Length: 0\r\n\r\n';
const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n';

describe('D7, R6: a receiver that does not keep to HTTP', () => {
  it.each<[string, number, (socket: Socket) => void]>([
    ['switches protocols and stays', 101, (socket) => socket.write(SWITCH)],
    ['switches protocols and goes', 101, (socket) => socket.end(SWITCH)],
    [
      'says other things first',
      200,
      (socket) => socket.end(`HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n${NONE}`),
    ],
    ['stops in the middle of a body', 200, (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab')],
    [
      'sends a broken chunk',
      200,
      (socket) => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'),
    ],
    ['answers twice', 200, (socket) => socket.end(`HTTP/1.1 200 OK\r\n${NONE}HTTP/1.1 500 No\r\n${NONE}`)],
    ['has a status of its own', 999, (socket) => socket.end(`HTTP/1.1 999 What\r\n${NONE}`)],
  ])('has answered when it %s', async (_, status, answer) => {
    expect(await answered(answer)).toMatchObject({ status });
  });

  it.each<[string, (socket: Socket) => void]>([
    ['says nothing', (socket) => socket.end()],
    ['resets', (socket) => socket.resetAndDestroy()],
    ['speaks something else', (socket) => socket.end('220 mail.example ESMTP\r\n')],
    ['has headers without end', (socket) => socket.end(`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(100_000)}\r\n\r\n`)],
  ])('has not been reached when it %s', async (_, answer) => {
    expect(await answered(answer)).toHaveProperty('message');
  });

  it('ends with the signal when it goes on saying that it goes on', async () => {
    expect(await answered((socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'), 200)).toMatchObject({
      name: 'AbortError',
    });
  });

  it.each([
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '0',
    '①②⑦.0.0.1',
    '127.0.0.1.',
    '[::ffff:127.0.0.1]',
    '[64:ff9b::10.0.0.1]',
    'localhost',
  ])('is not asked at http://%s/', async (host) => {
    const sent = new WebhookSender().send({
      body: '',
      headers: {},
      signal: AbortSignal.timeout(5_000),
      url: new URL(`http://${host}:9/`),
    });
    await expect(sent).rejects.toBeInstanceOf(AddressRefusedError);
  });
});
