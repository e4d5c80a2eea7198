/** ErrorDetail is how much of an error the row keeps: the code alone, its class too (names, SQLSTATE, HTTP status), or its message too (R8). */
export type ErrorDetail = 'code' | 'class' | 'message';

/** FailureRecord is what the row keeps of a failed attempt: codes and classes, never a message unless asked for (R8). */
export interface FailureRecord {
  readonly attempt: number;
  readonly code: string;
  /** errorClass is the error's name, SQLSTATE or HTTP status and the codes of its causes, where `errorDetail` keeps it. */
  readonly errorClass?: string | undefined;
  /** message is kept with `errorDetail: 'message'` alone: cleaned of U+0000 and lone surrogates, at most 2 000 characters. */
  readonly message?: string | undefined;
}

/** The failures kept on a row. */
export const KEPT_FAILURES = 5;
