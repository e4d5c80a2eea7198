import { HoldfastError } from '@holdfast/kernel/pure';

/** AmbiguousTransactionError says that two transactions are open where an enqueue names none, and how to say which it joins (T4). */
export class AmbiguousTransactionError extends HoldfastError {
  constructor(readonly kind: string) {
    super(
      'queue.ambiguous_transaction',
      `A job of kind ${kind} was enqueued where two transactions are open: Holdfast's own, and one of the transactionHost. They commit apart from each other: pass { in: tx } with the one that it belongs to.`,
    );
  }
}
