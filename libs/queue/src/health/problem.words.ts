import {
  errorChain,
  HoldfastError,
  PoolExhaustedError,
  property,
  sqlStateOf,
  StatementDeadlineError,
} from '@holdfast/kernel';

/** What a SQLSTATE says of the database; else its class does. */
const STATES: Readonly<Record<string, string>> = {
  '25006': 'only reads, as after a failover',
  '3D000': 'does not exist',
  '3F000': 'lacks the schema: migrations have not been applied',
  '42501': 'does not give this role a right that it needs (docs/privileges.md)',
  '42P01': 'lacks a table: migrations have not been applied',
  '42883': 'lacks a function: migrations have not been applied',
  '53300': 'takes no more connections',
  '57P01': 'ended the connection',
  '57P03': 'is starting up or shutting down',
};
const CLASSES: Readonly<Record<string, string>> = {
  '08': 'broke the connection off',
  '28': 'refuses the login',
  '53': 'lacks memory, disk or connections',
  '57': 'ended or cancelled what was running',
};
const POOLER = 'queue.pooler';
const BEHIND_POOLER = 'the database is behind a pooler in transaction mode: set directUrl';
const SOCKET = /^E[A-Z_]+$/;

/** LATE is what is said of a database that has not answered. */
export const LATE = 'the database did not answer in time';

/**
 * problemIn says in words what an error says of the database. Never the error's own text, which may hold addresses, names or values: a status page is
 * read by more people than a log.
 */
export function problemIn(error: unknown): string {
  const state = sqlStateOf(error);
  if (state !== undefined) {
    const words = STATES[state] ?? CLASSES[state.slice(0, 2)] ?? 'answered with an error';
    return `the database ${words} (${state})`;
  }
  const chain = errorChain(error);
  if (chain.some((link) => link instanceof StatementDeadlineError || link instanceof PoolExhaustedError)) return LATE;
  const socket = chain.map((link) => property(link, 'code')).find(isSocketCode);
  if (socket !== undefined) return `the database cannot be reached (${socket})`;
  const own = chain.find((link) => link instanceof HoldfastError);
  if (!(own instanceof HoldfastError)) return 'it failed; the log says how';
  return own.code === POOLER ? `${BEHIND_POOLER} (${own.code})` : `it failed with ${own.code}`;
}

function isSocketCode(code: unknown): code is string {
  return typeof code === 'string' && SOCKET.test(code);
}
