import { InvalidFilterError } from '../errors/invalid-filter.error.js';
import { JobState, type JobStateName } from './job-state.js';
import type { JobFilter } from './job.listing.js';
import { isKind } from './kind.js';

const MAX_CODE_LENGTH = 100;
const MAX_TENANT_BYTES = 200;

/** No kind comes before FIRST_KIND, nor behind LAST_KIND. */
export const FIRST_KIND = '';
export const LAST_KIND = '~';

/** checkFilter throws InvalidFilterError for the first mistake; `states` are those that may be named, `names` the options there are. */
export function checkFilter(filter: JobFilter, names: readonly string[], states?: readonly JobStateName[]): void {
  if (typeof filter !== 'object' || filter === null) throw new InvalidFilterError('the filter', 'must be an object');
  for (const name of Object.keys(filter))
    if (!names.includes(name)) throw new InvalidFilterError(name, `is no option; there are ${names.join(', ')}`);
  const { errorCode, kind, state, tenantId } = filter as Readonly<Record<string, unknown>>;
  if (kind !== undefined) checkKind(kind);
  if (tenantId !== undefined) checkText('tenantId', tenantId, MAX_TENANT_BYTES);
  if (errorCode !== undefined) checkText('errorCode', errorCode, MAX_CODE_LENGTH);
  const known = states ?? (Object.keys(JobState) as JobStateName[]);
  if ((state !== undefined || states) && !known.includes(state as JobStateName))
    throw new InvalidFilterError('state', `must be one of ${known.join(', ')}`);
}

/** checkKind throws InvalidFilterError for what is no kind. */
export function checkKind(kind: unknown): void {
  if (!isKind(kind))
    throw new InvalidFilterError('kind', 'must be lower-case words joined by dots, at most 100 characters');
}

/** limitOf answers the limit, or its default. Throws InvalidFilterError. */
export function limitOf(limit: number | undefined, otherwise: number, most: number): number {
  if (limit === undefined) return otherwise;
  if (!Number.isInteger(limit) || limit < 1 || limit > most)
    throw new InvalidFilterError('limit', `must be a whole number from 1 to ${most}`);
  return limit;
}

function checkText(field: string, value: unknown, mostBytes: number): void {
  if (typeof value !== 'string' || value.length === 0 || value.includes('\0') || Buffer.byteLength(value) > mostBytes)
    throw new InvalidFilterError(field, `must be a text of 1 to ${mostBytes} bytes`);
}
