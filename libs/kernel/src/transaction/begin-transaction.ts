import type { Pool } from 'pg';
import { acquireClient } from '../connection/acquire-client.js';
import type { CheckedOutClient } from '../connection/checked-out.client.js';
import { ConnectionLostError } from '../errors/connection-lost.error.js';
import { isConnectionLost } from '../errors/sql-state.js';
import { StatementDeadlineError } from '../errors/statement-deadline.error.js';
import { withDeadline } from '../time/deadline.js';
import { AfterCommit } from './after-commit.js';
import { beginText } from './begin-text.js';
import { ClientTransaction } from './client.transaction.js';
import type { BeginOptions } from './database.js';
import { GatedTransaction } from './gated.transaction.js';
import { boundSettings, readSessionBounds } from './session-bounds.js';
import type { Transaction } from './transaction.js';
import { checkIsolation } from './transaction.options.js';
import { type Lead, TransactionGate } from './transaction.gate.js';
import type { PartScope, TransactionHooks, TransactionPart } from './transaction.part.js';

const ACQUIRE_WITHIN_MS = 10_000;

/** BegunTransaction is what a database library may add to a transaction before application code gets it. */
export interface BegunTransaction {
  readonly gate: TransactionGate;
  readonly transaction: GatedTransaction;
}

/** BeginSettings are the settings of a Database that hold for each of its transactions. */
export interface BeginSettings {
  /** extend adds to the transaction and answers the hooks for its end. */
  readonly extend?: (begun: BegunTransaction) => TransactionHooks;
  readonly preparedStatements: boolean;
}

/**
 * beginTransaction takes a client from the pool and sends BEGIN with its settings as one message; the first transaction on a client
 * asks once more for the session's own bounds. An isolation that is none is refused before. Whatever fails or is late, the client has been destroyed or given back (K16).
 */
export async function beginTransaction(
  pool: Pool,
  options: BeginOptions,
  settings: BeginSettings,
): Promise<ClientTransaction> {
  checkIsolation(options.isolation);
  const withinMs = options.acquireTimeoutMs ?? ACQUIRE_WITHIN_MS;
  const startedAt = performance.now();
  const checkedOut = await acquireClient(pool, withinMs);
  try {
    const leftMs = Math.max(1, withinMs - (performance.now() - startedAt));
    await withDeadline(begin(checkedOut, options), leftMs, () => new StatementDeadlineError('BEGIN', withinMs));
    return open(checkedOut, options, settings);
  } catch (error) {
    checkedOut.destroy(error instanceof Error ? error : new Error(String(error)));
    if (error instanceof StatementDeadlineError || !isConnectionLost(error)) throw error;
    throw new ConnectionLostError('begin a transaction', error);
  }
}

async function begin(checkedOut: CheckedOutClient, options: BeginOptions): Promise<void> {
  const session = await readSessionBounds(checkedOut);
  const { boundMs } = options;
  const bounds =
    boundMs === undefined ? [] : boundSettings(session, typeof boundMs === 'function' ? boundMs() : boundMs);
  await checkedOut.send(beginText(options, bounds));
}

function open(checkedOut: CheckedOutClient, options: BeginOptions, settings: BeginSettings): ClientTransaction {
  const { preparedStatements } = settings;
  const part = ({ tenantId = null }: PartScope, lead?: Lead): TransactionPart => {
    const gate = new TransactionGate(checkedOut, options.readOnly ?? false, options.shared ?? false, lead);
    const afterCommit = new AfterCommit();
    const transaction = new GatedTransaction(afterCommit, gate, { ...options, preparedStatements, tenantId });
    const hooks = settings.extend?.({ gate, transaction }) ?? {};
    return { afterCommit, gate, hooks, transaction: transaction as GatedTransaction & Transaction };
  };
  return new ClientTransaction(checkedOut, part, options, preparedStatements);
}
