import fc from 'fast-check';

/** The isolation levels of callers. */
export const ISOLATIONS = ['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'] as const;

/** The ways in which a run ends; `retryLater` and `defer` leave a job that waits. */
export const ENDINGS = [
  'complete',
  'repeat',
  'retry',
  'retryLater',
  'defer',
  'refuse',
  'bury',
  'giveBack',
  'crash',
] as const;

/** Asked is what a caller asks for. */
export interface Asked {
  readonly dueInMs: number;
  readonly replace: boolean;
  readonly tenant: number;
}

/** AskCommand is an enqueue with what happens around it. */
export interface AskCommand extends Asked {
  readonly after: Meanwhile;
  readonly before: Meanwhile;
  readonly isolation: (typeof ISOLATIONS)[number];
  readonly type: 'ask';
}

/** Meanwhile is what happens to the run of the key while a caller's transaction is open. */
export type Meanwhile = (typeof MEANWHILES)[number];

/** `again` ends the run and claims the same job once more; `restart` ends it for good and starts another. */
const MEANWHILES = ['nothing', 'nothing', 'nothing', 'hold', 'complete', 'again', 'restart'] as const;

/** Command is one step of an interleaving; indexes pick among what there is, modulo. */
export type Command =
  | { readonly type: 'begin'; readonly caller: number; readonly isolation: (typeof ISOLATIONS)[number] }
  | ({ readonly type: 'enqueue'; readonly caller: number } & Asked)
  /**
   * ask is a transaction that does nothing but enqueue, by a caller that has none open. What happens before happens after its first look at the
   * database, so that a strict one asks with an old snapshot; what happens after, before its commit.
   */
  | AskCommand
  | { readonly type: 'savepoint' | 'rollbackToSavepoint' | 'commit' | 'rollback'; readonly caller: number }
  /** lockedIntake is an intake while somebody else has locked every pending job. */
  | { readonly type: 'intake' | 'lockedIntake' }
  | { readonly type: 'claim' }
  /** start brings the key to a run, whatever its state, so that most interleavings meet one. */
  | { readonly type: 'start'; readonly tenant: number }
  | { readonly type: 'hold'; readonly run: number }
  /** requeue gives a job that was refused or is dead another life. */
  | { readonly type: 'requeue'; readonly job: number }
  | { readonly type: 'end'; readonly run: number; readonly how: (typeof ENDINGS)[number] };

const HOUR_MS = 3_600_000;
const caller = fc.nat({ max: 2 });
/** Most steps are about one tenant, or they would rarely meet. */
const tenant = fc.constantFrom(0, 0, 0, 0, 1);

const isolation = fc.constantFrom(...ISOLATIONS);
const meanwhile = fc.constantFrom(...MEANWHILES);
const asked = {
  tenant,
  dueInMs: fc.constantFrom(0, 0, 0, HOUR_MS, 2 * HOUR_MS),
  replace: fc.constantFrom(false, false, true),
};

const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('begin' as const), caller, isolation }),
  },
  { weight: 5, arbitrary: fc.record({ type: fc.constant('enqueue' as const), caller, ...asked }) },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('ask' as const),
      after: meanwhile,
      before: meanwhile,
      isolation,
      ...asked,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom('savepoint' as const, 'rollbackToSavepoint' as const, 'rollback' as const),
      caller,
    }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('commit' as const), caller }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('intake' as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('lockedIntake' as const) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('claim' as const) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('start' as const), tenant }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('hold' as const), run: fc.nat({ max: 3 }) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('requeue' as const), job: fc.nat({ max: 7 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('end' as const),
      run: fc.nat({ max: 3 }),
      how: fc.constantFrom(...ENDINGS),
    }),
  },
);

/** anyInterleaving draws steps: many, because most faults need a run, an old snapshot and two requests at the same time. */
export const anyInterleaving: fc.Arbitrary<Command[]> = fc.array(anyCommand, {
  maxLength: 50,
  minLength: 4,
  size: 'max',
});
