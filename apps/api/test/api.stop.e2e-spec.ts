import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createTestDatabase } from '@holdfast/testing';
import { ApiProcess } from './api.process.js';

describe('The api at a stop', () => {
  it('K56: is not held up by clients that never finish what they began', async () => {
    const db = await createTestDatabase();
    const api = await ApiProcess.on(db);
    const { hostname, port } = new URL(api.url);
    const open = (text: string): Socket => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      if (text !== '') socket.write(text);
      return socket;
    };
    const sockets = [
      open(''),
      open('POST /events HTTP/1.1\r\nHost: hub\r\nConte'),
      open(
        'POST /events HTTP/1.1\r\nHost: hub\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"type":',
      ),
    ];
    const answered = open('GET /health/live HTTP/1.1\r\nHost: hub\r\n\r\n');
    await once(answered, 'data');
    const closed = [...sockets, answered].map((socket) => once(socket, 'close'));
    api.process.signal('SIGTERM');
    expect(await api.process.exit(10_000)).toEqual({ code: 0, signal: null });
    await Promise.all(closed);
    await db.drop();
  });
});
