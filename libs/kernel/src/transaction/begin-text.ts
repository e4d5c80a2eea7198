import { escapeIdentifier, escapeLiteral } from 'pg';
import type { BeginOptions } from './database.js';
import { checkIsolation } from './transaction.options.js';
import type { PartScope } from './transaction.part.js';

const CHECK_CONSTRAINTS =
  'SAVEPOINT holdfast_next; SET CONSTRAINTS ALL IMMEDIATE; ROLLBACK TO SAVEPOINT holdfast_next; RELEASE SAVEPOINT holdfast_next';

/**
 * beginText writes BEGIN and its settings as one message: one round trip.
 *
 * Settings with a dot are the application's own and are written as SET LOCAL, which costs the server a sixth of a `SELECT set_config(…)`; the
 * server's own go through `set_config`, because SET LOCAL reads some of them as lists (`search_path`).
 */
export function beginText(options: BeginOptions, bounds: readonly (readonly [string, string])[]): string {
  const isolation = options.isolation ?? 'READ COMMITTED';
  checkIsolation(isolation);
  return [
    `BEGIN ISOLATION LEVEL ${isolation}${options.readOnly ? ' READ ONLY' : ''}`,
    ...bounds.map(setLocal),
    ...settingTexts(options.settings),
  ].join('; ');
}

/**
 * nextText checks the deferred constraints of the transaction so far and sets what the next part is to find, as one message.
 *
 * Whether a constraint is deferred can be set for all at once and not be put back to what each was; going back to a savepoint does that. What the check ran
 * is undone with it and runs again at COMMIT.
 */
export function nextText({ settings }: PartScope): string {
  return [CHECK_CONSTRAINTS, ...settingTexts(settings)].join('; ');
}

function settingTexts(settings: BeginOptions['settings'] = {}): string[] {
  const all = Object.entries(settings);
  const configured = all.filter(([name]) => !name.includes('.')).map(setConfig);
  return [
    ...all.filter(([name]) => name.includes('.')).map(setLocal),
    ...(configured.length > 0 ? [`SELECT ${configured.join(', ')}`] : []),
  ];
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
