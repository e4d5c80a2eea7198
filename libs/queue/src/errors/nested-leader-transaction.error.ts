import { HoldfastError } from '@holdfast/kernel/pure';

/** NestedLeaderTransactionError says that a transaction of a leader was asked for inside another one: they share one session, and it would wait for itself. */
export class NestedLeaderTransactionError extends HoldfastError {
  constructor(readonly candidate: string) {
    super(
      'queue.nested_leader_transaction',
      `A transaction of ${JSON.stringify(candidate)} was asked for inside another one on the leader's connection: use the executor that the outer one gave, or end it first.`,
    );
  }
}
