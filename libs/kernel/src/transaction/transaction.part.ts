import type { AfterCommit } from './after-commit.js';
import type { GatedTransaction } from './gated.transaction.js';
import type { Transaction } from './transaction.js';
import type { TransactionGate } from './transaction.gate.js';

/** TransactionHooks let a database library see the end of a transaction. */
export interface TransactionHooks {
  /** beforeCommit may still send statements; what it throws rolls the transaction back. */
  beforeCommit?(): Promise<void>;
  /** ended is called once, when nothing may use the transaction any more. */
  ended?(): void;
  /** settled is called once with the outcome, after the connection went back. */
  settled?(committed: boolean): void;
}

/** TransactionPart is what one piece of application code gets of an open transaction: its own handle, which dies by itself (R4). */
export interface TransactionPart {
  readonly afterCommit: AfterCommit;
  readonly gate: TransactionGate;
  readonly hooks: TransactionHooks;
  readonly transaction: GatedTransaction & Transaction;
}

/** PartScope is what the parts of a transaction may differ in. */
export interface PartScope {
  /** settings are set locally, in the same round trip in which the part begins. */
  readonly settings?: Readonly<Record<string, string>>;
  /** tenantId is the scope of the part; null is the system's. */
  readonly tenantId?: string | null;
}
