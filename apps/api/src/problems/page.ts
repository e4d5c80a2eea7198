import { z } from 'zod';

const MAX_PAGE = 100;
const DEFAULT_PAGE = 20;
const NEXT = 'expected the next of the page before';

/** pageQuery is the query of a list: at most `limit` entries that come after the one named by `after`. */
export const pageQuery = z.strictObject({
  /** after is the `next` of the page before. */
  after: z
    .string(NEXT)
    .regex(/^[\x21-\x7e]{1,200}$/, NEXT)
    .optional(),
  limit: z.coerce
    .number('expected a number')
    .int('expected a whole number')
    .min(1, `expected 1 to ${MAX_PAGE}`)
    .max(MAX_PAGE, `expected 1 to ${MAX_PAGE}`)
    .default(DEFAULT_PAGE),
});

/** PageQuery is a valid query of a list. */
export type PageQuery = z.infer<typeof pageQuery>;

/** Page is a part of a list; `next` asks for the one after it, and is null at the end. */
export interface Page<Entry> {
  readonly entries: readonly Entry[];
  readonly next: string | null;
}

/** pageOf makes a page of one row more than was asked for: whether that one is there tells whether there is another page. */
export function pageOf<Row, Entry>(
  rows: readonly Row[],
  { limit }: PageQuery,
  idOf: (row: Row) => string,
  view: (row: Row) => Entry,
): Page<Entry> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { entries: shown.map(view), next: rows.length > limit && last !== undefined ? idOf(last) : null };
}
