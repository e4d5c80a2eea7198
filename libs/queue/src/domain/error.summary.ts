import { errorChain, isErrorCode, property } from '@holdfast/kernel/pure';
import { storableText } from './text.js';

/** The code of a failure that brings none of its own (R8). */
export const DEFAULT_FAILURE_CODE = 'queue.job_failed';

/** The longest message kept with `errorDetail: 'message'`, in characters. */
export const MAX_MESSAGE_LENGTH = 2_000;

const MAX_CLASS_LENGTH = 200;
const CLASS_NAME = /^[A-Za-z_$][A-Za-z0-9_$.]{0,59}$/;
/** SQLSTATEs (`23505`), codes of Node and of libraries (`ECONNREFUSED`, `ERR_STREAM_DESTROYED`), and ours. */
const TECHNICAL_CODE = /^[A-Za-z0-9_.]{1,60}$/;

/** codeOf answers the code of a coded error, or of the first coded one that it wraps; else undefined. It never throws. */
export function codeOf(thrown: unknown): string | undefined {
  for (const error of errorChain(thrown)) {
    const code = property(error, 'code');
    if (isErrorCode(code)) return code;
  }
  return undefined;
}

/**
 * describeClass answers what kind of error was thrown, for whoever reads the row: names, SQLSTATE, HTTP status and codes, outermost
 * first (`QueryFailedError 23505 < DatabaseError 23505`), never a message. A thrown value that is no object is named by its type.
 */
export function describeClass(thrown: unknown): string {
  let described = '';
  for (const error of errorChain(thrown)) {
    const next = described === '' ? describeOne(error) : `${described} < ${describeOne(error)}`;
    if (next.length > MAX_CLASS_LENGTH) break;
    described = next;
  }
  return described;
}

/** describeMessage answers the message of a thrown value, bounded and cleaned of what cannot be stored (K3). It never throws. */
export function describeMessage(thrown: unknown): string | undefined {
  const message = typeof thrown === 'string' ? thrown : property(thrown, 'message');
  return typeof message === 'string' && message !== '' ? storableText(message, MAX_MESSAGE_LENGTH) : undefined;
}

function describeOne(error: unknown): string {
  if (error === null) return 'null';
  if (typeof error !== 'object' && typeof error !== 'function') return typeof error;
  const details = [nameOf(error), statusOf(error), technicalCodeOf(error)];
  return details.filter((detail) => detail !== undefined).join(' ');
}

function nameOf(error: unknown): string {
  for (const name of [property(error, 'name'), property(property(error, 'constructor'), 'name')]) {
    if (typeof name === 'string' && CLASS_NAME.test(name)) return name;
  }
  return 'object';
}

function statusOf(error: unknown): string | undefined {
  for (const status of [
    property(error, 'status'),
    property(error, 'statusCode'),
    property(property(error, 'response'), 'status'),
  ]) {
    if (Number.isInteger(status) && (status as number) >= 100 && (status as number) <= 599)
      return `HTTP ${String(status)}`;
  }
  return undefined;
}

function technicalCodeOf(error: unknown): string | undefined {
  const code = property(error, 'code');
  return typeof code === 'string' && TECHNICAL_CODE.test(code) ? code : undefined;
}
