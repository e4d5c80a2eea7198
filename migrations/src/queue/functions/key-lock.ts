import type { SchemaName } from '@holdfast/kernel';

/**
 * keyLock writes the number of the advisory lock of a key: a hash of schema, kind, tenant and key.
 *
 * Two keys with one hash cost a detour through intake, nothing else.
 */
export function keyLock(schema: SchemaName, of: { kind: string; tenantId: string; dedupeKey: string }): string {
  const prefix = schema.name.replaceAll("'", "''");
  const text = `'${prefix}' || chr(31) || ${of.kind} || chr(31) || coalesce(${of.tenantId}, '') || chr(31) || ${of.dedupeKey}`;
  return `hashtextextended((${text}) COLLATE "C", 7)`;
}

/**
 * PINNED_PLANS keeps a plan that was made while a table was small from reading all of it once it is large: functions keep their plans.
 */
export const PINNED_PLANS = `SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off`;
