import { HttpException, HttpStatus } from '@nestjs/common';

/** FieldProblem says what is wrong with one field of a request; `field` is its path, such as `payload.action`. */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

/** ProblemBody is what a client reads: RFC 9457, `application/problem+json`. */
export interface ProblemBody {
  readonly detail: string;
  readonly errors?: readonly FieldProblem[];
  readonly status: number;
  readonly title: string;
  readonly type: 'about:blank';
}

/** Problem is an HTTP error that says what to change. */
export class Problem extends HttpException {
  constructor(
    status: number,
    readonly detail: string,
    readonly errors: readonly FieldProblem[] = [],
  ) {
    super(detail, status);
  }
}

/** problemBody writes a problem as it is sent. */
export function problemBody(status: number, detail: string, errors: readonly FieldProblem[] = []): ProblemBody {
  const body: ProblemBody = { type: 'about:blank', title: titleOf(status), status, detail };
  return errors.length > 0 ? { ...body, errors } : body;
}

function titleOf(status: number): string {
  const words = (HttpStatus[status] ?? 'Error').toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
