import type { StandardSchemaV1 } from '@standard-schema/spec';

/** PayloadSchema is any Standard Schema (zod, valibot, arktype, …), or what `type<P>()` makes. */
export type PayloadSchema<Input = unknown, Output = Input> = StandardSchemaV1<Input, Output>;

/**
 * type gives a payload its TypeScript type alone: nothing of its shape is checked at run time.
 *
 * It must still be an object that JSON can say as it stands (Q2).
 */
export function type<P extends object>(): PayloadSchema<P> {
  return { '~standard': { version: 1, vendor: 'holdfast', validate: (value) => ({ value: value as P }) } };
}

/** isPayloadSchema tells whether a value is a Standard Schema. Some schemas are functions. */
export function isPayloadSchema(value: unknown): value is PayloadSchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const standard: unknown = (value as Record<string, unknown>)['~standard'];
  return (
    typeof standard === 'object' &&
    standard !== null &&
    typeof (standard as { validate?: unknown }).validate === 'function'
  );
}
