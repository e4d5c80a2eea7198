import { HoldfastError } from './holdfast.error.js';

const REMEDY =
  'Hand over the manager that dataSource.transaction() gives, a query runner after startTransaction(), a pg client after BEGIN, or the transaction of ' +
  'unitOfWork.run().';

/** NoOpenTransactionError says that what was handed over to join has no open transaction (Q1). */
export class NoOpenTransactionError extends HoldfastError {
  constructor(
    /** handle is what was handed over, such as `an EntityManager`. */
    readonly handle: string,
    remedy = REMEDY,
  ) {
    super('kernel.no_open_transaction', `${handle} cannot be joined: there is no open transaction in it. ${remedy}`);
  }
}
