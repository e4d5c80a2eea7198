import { Doors, Statement } from '@holdfast/kernel';

/**
 * Answers the number of each kind's door (Q10).
 *
 * Locks: none. Index: none; no table is read. Fence: none.
 */
export const numberDoors = new Statement<
  { readonly kinds: readonly string[] },
  { readonly door: number; readonly kind: string }
>({
  name: 'number-doors',
  text: (schema) =>
    `SELECT k.kind, ${new Doors(schema).numberOfKind('k.kind')} AS door FROM unnest($1::text[]) AS k (kind)`,
  values: (p) => [p.kinds],
});
