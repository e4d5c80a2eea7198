import { errorChain, property } from './error-chain.js';

const SQL_STATE = /^[0-9A-Z]{5}$/;
const SERIALIZATION_FAILURES = new Set(['40001', '40P01']);

/** Sessions that the server ended, a server that takes none, and one that has become read-only (K33). */
const LOST_STATES = new Set(['57P01', '57P02', '57P03', '57P04', '57P05', '25006', '25P03', '25P04']);

const LOST_SOCKETS = new Set([
  'EADDRNOTAVAIL', 'EAI_AGAIN', 'ECONNABORTED', 'ECONNREFUSED', 'ECONNRESET', 'EHOSTDOWN', 'EHOSTUNREACH', 'ENETDOWN', 'ENETRESET',
  'ENETUNREACH', 'ENOTFOUND', 'EPIPE', 'ETIMEDOUT', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_WRITE_AFTER_END',
]); // prettier-ignore

/** What `pg` says, without a code, of a connection that is gone. */
const LOST_MESSAGES = [
  'Connection terminated',
  'Client has encountered a connection error',
  'Client was closed and is not queryable',
  'timeout expired',
];

const OWN_LOST_CODES = new Set<unknown>(['kernel.connection_lost', 'kernel.statement_deadline']);

/** sqlStateOf answers the SQLSTATE of an error or of what it wraps, or undefined. It never throws, whatever the value is (K36). */
export function sqlStateOf(error: unknown): string | undefined {
  for (const link of errorChain(error)) {
    const code = ownSqlState(link);
    if (code !== undefined) return code;
  }
  return undefined;
}

/** isSerializationFailure tells whether the transaction lost against another one and may be run again at once: 40001, 40P01 (R9). */
export function isSerializationFailure(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state !== undefined && SERIALIZATION_FAILURES.has(state);
}

/**
 * isConnectionLost tells whether an error says that a connection to PostgreSQL is gone or of no more use: it must be destroyed (K33, K116).
 *
 * Class 08 and 57P01–57P05, 25P03, 25P04 (the server ended the session), 25006 (the server has become read-only), and errors of the socket. Not
 * 08P01, which also says that a statement got the wrong number of parameters. A socket error of another protocol looks the same: where the
 * transaction is at hand, ask its `lost`.
 */
export function isConnectionLost(error: unknown): boolean {
  const chain = errorChain(error);
  if (chain.some((link) => OWN_LOST_CODES.has(property(link, 'code')))) return true;
  const state = sqlStateOf(error);
  if (state !== undefined) return LOST_STATES.has(state) || (state.startsWith('08') && state !== '08P01');
  return chain.some(saysConnectionLost);
}

function ownSqlState(error: unknown): string | undefined {
  const code = property(error, 'code');
  if (typeof code !== 'string' || !SQL_STATE.test(code)) return undefined;
  // EPIPE, EBUSY and other codes of Node have the shape of a SQLSTATE; the server's errors carry a severity.
  return /^\d/.test(code) || typeof property(error, 'severity') === 'string' ? code : undefined;
}

function saysConnectionLost(error: unknown): boolean {
  const code = property(error, 'code');
  if (typeof code === 'string' && LOST_SOCKETS.has(code)) return true;
  const message = property(error, 'message');
  return typeof message === 'string' && LOST_MESSAGES.some((text) => message.startsWith(text));
}
