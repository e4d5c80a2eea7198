import { property } from '../errors/error-chain.js';
import { InvalidDatabaseError } from '../errors/invalid-database.error.js';

/** checkPool throws InvalidDatabaseError for what is no pool of `pg`; what it is told by its shape, so that a pool of another copy of `pg` is one. */
export function checkPool(given: unknown): void {
  if (isPool(given)) return;
  throw new InvalidDatabaseError(
    'pgPool',
    `it takes a pool of pg, new Pool({ connectionString, max }), not ${nameOf(given)}`,
  );
}

/** checkDataSource throws InvalidDatabaseError for what is no DataSource of TypeORM for PostgreSQL. */
export function checkDataSource(given: unknown): void {
  if (!isDataSource(given))
    throw new InvalidDatabaseError('typeOrm', `it takes a DataSource of TypeORM, not ${nameOf(given)}`);
  const type = property(property(given, 'options'), 'type');
  if (type !== 'postgres')
    throw new InvalidDatabaseError('typeOrm', `it takes a DataSource of type postgres, not ${String(type)}`);
}

function isDataSource(value: unknown): boolean {
  return isFunction(value, 'createQueryRunner') && isFunction(value, 'initialize');
}

function isFunction(value: unknown, name: string): boolean {
  return typeof property(value, name) === 'function';
}

function isPool(value: unknown): boolean {
  return isFunction(value, 'connect') && typeof property(value, 'totalCount') === 'number';
}

function nameOf(value: unknown): string {
  if (isPool(value)) return 'a pool: wrap it with pgPool(pool)';
  if (isDataSource(value)) return 'a DataSource: wrap it with typeOrm(dataSource)';
  if (isFunction(value, 'connect') && isFunction(value, 'query')) return 'a single client';
  if (value === null || value === undefined) return String(value);
  return typeof value === 'string' ? 'a text' : `a value of type ${typeof value}`;
}
