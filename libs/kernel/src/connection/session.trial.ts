import { Client, type ClientConfig } from 'pg';
import { withDeadline } from '../time/deadline.js';
import type { NewSession } from './dedicated.connection.js';

/** A pooler that is busy with others may give the same backend several times in a row, by chance. */
const LOOKS = 10;
/** The longest that the second connection may take to end. */
const GOODBYE_WITHIN_MS = 1_000;
const BACKEND = 'SELECT pg_catalog.pg_backend_pid() AS backend';

/** TriedSession is what a trial of a new session has found. */
export interface TriedSession {
  /** backend answered the first statement. */
  readonly backend: number;
  /** shared says how it was seen that others use the backend too, or undefined: then nothing of the kind was seen. */
  readonly shared: string | undefined;
}

/**
 * trySession finds out whether a new session has a backend of the server to itself (L4, K105).
 *
 * A server announces the backend that it gives a connection; where that very backend answers, nothing is in between. A pooler announces a number of
 * its own. In session mode the connection then keeps one backend, and no other connection reaches it. In transaction mode the backend changes from
 * statement to statement, or, where it does not, a second connection meets the same. So backends are compared, of two statements and of two
 * connections, before anything is set on them: in transaction mode they are other people's too.
 */
export async function trySession(session: NewSession, config: ClientConfig, withinMs: number): Promise<TriedSession> {
  const backend = await backendOf(session);
  if (backend === session.announcedPid) return { backend, shared: undefined };
  const seen = withDeadline(compare(session, backend, config, withinMs), withinMs, () => new Error('late'));
  return { backend, shared: await seen.catch(() => undefined) };
}

async function compare(
  session: NewSession,
  first: number,
  config: ClientConfig,
  withinMs: number,
): Promise<string | undefined> {
  const other = new Client({
    ...config,
    application_name: 'holdfast-pooler-trial',
    connectionTimeoutMillis: withinMs,
    query_timeout: withinMs,
  });
  other.on('error', () => undefined);
  try {
    await other.connect();
    // An open transaction keeps its backend to itself, so that the first connection has to get another one now, if it shares.
    await other.query('BEGIN');
    const shared = (await other.query<{ backend: number }>(BACKEND)).rows[0]!.backend;
    if (shared === first) return `two connections were answered by backend ${first}`;
    for (let look = 0; look < LOOKS; look++) {
      const last = await backendOf(session);
      if (last !== first) return `backend ${first} answered one statement and backend ${last} another`;
    }
    return undefined;
  } finally {
    // Not awaited: the pooler may not answer. Then the socket is not left open either.
    const late = () => new Error('No goodbye.');
    void withDeadline(other.end(), GOODBYE_WITHIN_MS, late).catch(() => destroy(other));
  }
}

function destroy(client: Client): void {
  (client as { connection?: { stream?: { destroy(): void } } }).connection?.stream?.destroy();
}

async function backendOf(session: NewSession): Promise<number> {
  return (await session.query<{ backend: number }>(BACKEND)).rows[0]!.backend;
}
