import { escapeIdentifier, escapeLiteral } from 'pg';
import type { BeginOptions } from './database.js';
import { checkIsolation } from './transaction.options.js';

/**
 * beginText writes BEGIN and its settings as one message: one round trip.
 *
 * Settings with a dot are the application's own and are written as SET LOCAL, which costs the server a sixth of a `SELECT set_config(…)`; the
 * server's own go through `set_config`, because SET LOCAL reads some of them as lists (`search_path`).
 */
export function beginText(options: BeginOptions, bounds: readonly (readonly [string, string])[]): string {
  const isolation = options.isolation ?? 'READ COMMITTED';
  checkIsolation(isolation);
  const settings = Object.entries(options.settings ?? {});
  const local = [...bounds, ...settings.filter(([name]) => name.includes('.'))].map(setLocal);
  const configured = settings.filter(([name]) => !name.includes('.')).map(setConfig);
  return [
    `BEGIN ISOLATION LEVEL ${isolation}${options.readOnly ? ' READ ONLY' : ''}`,
    ...local,
    ...(configured.length > 0 ? [`SELECT ${configured.join(', ')}`] : []),
  ].join('; ');
}

function setConfig([name, value]: readonly [string, string]): string {
  return `set_config(${literal(name)}, ${literal(value)}, true)`;
}

function setLocal([name, value]: readonly [string, string]): string {
  if (name.includes('\0')) throw new TypeError('A setting cannot contain U+0000.');
  return `SET LOCAL ${name.split('.').map(escapeIdentifier).join('.')} = ${literal(value)}`;
}

function literal(value: string): string {
  if (value.includes('\0')) throw new TypeError('A setting cannot contain U+0000.');
  return escapeLiteral(value);
}
