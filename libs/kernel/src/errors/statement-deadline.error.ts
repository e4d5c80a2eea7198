import { UnavailableError } from './classified.errors.js';

/** StatementDeadlineError says that PostgreSQL did not answer a statement in time; its connection was destroyed (R18). */
export class StatementDeadlineError extends UnavailableError {
  constructor(
    /** statement is the name of the statement, never its text. */
    readonly statement: string,
    readonly deadlineMs: number,
    cause?: unknown,
  ) {
    super('kernel.statement_deadline', {
      cause,
      message: `PostgreSQL did not answer ${statement} within ${deadlineMs} ms. Look for locks, an overloaded server or a broken network.`,
    });
  }
}
