import fc from 'fast-check';

/** The isolation levels of callers. */
export const ISOLATIONS = ['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'] as const;

/** The ways in which a run ends. */
export const ENDINGS = ['complete', 'repeat', 'retry', 'refuse', 'bury', 'giveBack', 'crash'] as const;

/** Command is one step of an interleaving; indexes pick among what there is, modulo. */
export type Command =
  | { readonly type: 'begin'; readonly caller: number; readonly isolation: (typeof ISOLATIONS)[number] }
  | { readonly type: 'enqueue'; readonly caller: number; readonly tenant: number; readonly dueInMs: number }
  | { readonly type: 'savepoint' | 'rollbackToSavepoint' | 'commit' | 'rollback'; readonly caller: number }
  | { readonly type: 'intake' }
  | { readonly type: 'claim' }
  | { readonly type: 'hold'; readonly run: number }
  | { readonly type: 'end'; readonly run: number; readonly how: (typeof ENDINGS)[number] };

const caller = fc.nat({ max: 2 });

/** anyCommand draws a command; enqueues, claims and endings are the most frequent. */
export const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('begin' as const), caller, isolation: fc.constantFrom(...ISOLATIONS) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('enqueue' as const),
      caller,
      tenant: fc.nat({ max: 1 }),
      dueInMs: fc.constantFrom(0, 0, 0, 3_600_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom('savepoint' as const, 'rollbackToSavepoint' as const, 'rollback' as const),
      caller,
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('commit' as const), caller }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('intake' as const) }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('claim' as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('hold' as const), run: fc.nat({ max: 3 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('end' as const),
      run: fc.nat({ max: 3 }),
      how: fc.constantFrom(...ENDINGS),
    }),
  },
);
