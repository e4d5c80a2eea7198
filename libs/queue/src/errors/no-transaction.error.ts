import { HoldfastError } from '@holdfast/kernel/pure';

/** NoTransactionError says that an enqueue has no transaction to join, and how to give it one (Q1). */
export class NoTransactionError extends HoldfastError {
  constructor(readonly kind: string) {
    super(
      'queue.no_transaction',
      `A job of kind ${kind} was enqueued outside a transaction: enqueue it inside unitOfWork.run(), pass { in: manager } with your open transaction, or say { in: 'own' } for a transaction of its own.`,
    );
  }
}
