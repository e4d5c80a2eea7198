import { InvalidTransactionOptionError } from '../errors/invalid-transaction-option.error.js';
import type { IsolationLevel } from './transaction.js';

/** ISOLATION_LEVELS are the levels there are, the loosest first. */
export const ISOLATION_LEVELS: readonly IsolationLevel[] = ['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'];

const MEANT: Readonly<Record<string, string>> = {
  isolationLevel: 'isolation',
  readonly: 'readOnly',
  tenant: 'tenantId',
  timeout: 'acquireTimeoutMs',
};

/** checkIsolation throws InvalidTransactionOptionError for what is no isolation level, with those there are. */
export function checkIsolation(isolation: unknown): void {
  if (isolation !== undefined && !ISOLATION_LEVELS.includes(isolation as IsolationLevel))
    throw new InvalidTransactionOptionError('isolation', `must be one of ${ISOLATION_LEVELS.join(', ')}`);
}

/** checkOptionNames throws InvalidTransactionOptionError for a name that is none of `known`: it would be a setting that quietly does nothing. */
export function checkOptionNames(options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null)
    throw new InvalidTransactionOptionError('what was given', `must be an object, not ${String(options)}`);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const meant = Object.hasOwn(MEANT, unknown) ? MEANT[unknown] : undefined;
  const remedy = meant === undefined ? `those there are: ${known.join(', ')}` : `did you mean ${meant}`;
  throw new InvalidTransactionOptionError(unknown, `is no option, ${remedy}`);
}
