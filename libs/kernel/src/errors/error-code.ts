const ERROR_CODE = /^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$/;
const MAX_ERROR_CODE_LENGTH = 100;

/** isErrorCode tells whether a value may be stored and shown as a code: `^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$`, at most 100 characters (R8). */
export function isErrorCode(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_ERROR_CODE_LENGTH && ERROR_CODE.test(value);
}
