import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { Pool } from 'pg';
import { acquireClient } from './acquire-client.js';

/** message writes a message of PostgreSQL's protocol. */
function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

const LET_IN = message('R', Buffer.alloc(4));
const READY = message('Z', Buffer.from('I'));
const TERMINATED = message(
  'E',
  Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'),
);

/** listening answers a server whose every backend is terminated as soon as it is ready, which it says in one packet. */
async function listening(): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(Buffer.concat([LET_IN, READY, TERMINATED])));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

describe('acquireClient', () => {
  it('K16: a backend that is terminated as soon as it is ready is a lost connection, and does not end the process', async () => {
    const server = await listening();
    const { port } = server.address() as AddressInfo;
    const pool = new Pool({ host: '127.0.0.1', max: 1, port, user: 'nobody' });
    pool.on('error', () => undefined);
    try {
      const checkedOut = await acquireClient(pool, 10_000);
      const { lost } = checkedOut;
      const removed = once(pool, 'remove');
      checkedOut.destroy(new Error('The test is over.'));
      await removed;
      expect(lost).toMatchObject({ code: '57P01' });
      expect(pool.totalCount).toBe(0);
    } finally {
      await pool.end();
      server.close();
    }
  });
});
