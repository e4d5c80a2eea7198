import { isErrorCode } from '@holdfast/kernel/pure';
import { InvalidOutcomeError } from '../errors/invalid-outcome.error.js';
import { quoted } from './text.js';

/** RefusalParams is a flat, bounded record of codes, numbers, booleans and moments (ISO 8601), shown to whoever asked for the job. */
export type RefusalParams = Readonly<Record<string, string | number | boolean | null>>;

const MAX_PARAMS = 20;
const MAX_VALUE_LENGTH = 200;
/** A text that `Date.parse` takes need not be a moment: it takes most texts that end in a number. */
const MOMENT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/;
const NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

/** checkRefusalParams throws InvalidOutcomeError for a record that is not flat, too long, or not made of codes, numbers and moments (R12). */
export function checkRefusalParams(params: RefusalParams): void {
  if (!isRecord(params)) throw new InvalidOutcomeError('the params of a refusal are no flat record');
  const entries = Object.entries(params);
  if (entries.length > MAX_PARAMS) throw new InvalidOutcomeError(`a refusal takes at most ${MAX_PARAMS} params`);
  for (const [name, value] of entries) {
    if (!NAME.test(name)) throw new InvalidOutcomeError(`${quoted(name)} is no name of a refusal param`);
    if (!isParam(value))
      throw new InvalidOutcomeError(
        `the refusal param ${name} is neither a code, a number, a boolean, null nor an ISO 8601 moment`,
      );
  }
}

function isParam(value: unknown): boolean {
  if (value === null || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'string' || value.length > MAX_VALUE_LENGTH) return false;
  return (
    isErrorCode(value) || (MOMENT.test(value) && !Number.isNaN(Date.parse(value))) || /^[A-Za-z0-9_.:-]+$/.test(value)
  );
}

function isRecord(params: unknown): boolean {
  if (typeof params !== 'object' || params === null) return false;
  const prototype: unknown = Object.getPrototypeOf(params);
  return prototype === Object.prototype || prototype === null;
}
