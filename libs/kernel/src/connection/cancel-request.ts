import { connect } from 'node:net';

const CANCEL_REQUEST_CODE = 80_877_102;
const CANCEL_WITHIN_MS = 2_000;

/** What a connected `pg` client knows of its session; `pg` keeps it public without typing it. */
interface SessionKey {
  readonly host?: string;
  readonly port?: number;
  readonly processID?: number | null;
  readonly readyForQuery?: boolean;
  readonly secretKey?: number | null;
}

/**
 * cancelRunning asks the server to cancel what a client's session is running, over a connection of its own, without waiting for it.
 *
 * Closing the socket alone is not seen by a server that is busy: the statement would run on and keep its locks. It is a best effort: the
 * server's own time limits are what holds.
 */
export function cancelRunning(client: object): void {
  const { host, port, processID, readyForQuery, secretKey } = client as SessionKey;
  if (readyForQuery === true || !host || !port || !processID || typeof secretKey !== 'number') return;
  const message = Buffer.alloc(16);
  message.writeInt32BE(message.length, 0);
  message.writeInt32BE(CANCEL_REQUEST_CODE, 4);
  message.writeInt32BE(processID, 8);
  message.writeInt32BE(secretKey, 12);
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.setTimeout(CANCEL_WITHIN_MS, () => socket.destroy());
  socket.on('error', () => undefined);
  socket.once('connect', () => socket.end(message));
  socket.unref();
  socket.resume();
}
