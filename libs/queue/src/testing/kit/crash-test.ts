import { isDeepStrictEqual } from 'node:util';
import { parseDuration } from '@holdfast/kernel';
import type { AnyJobDefinition, PayloadInputOf } from '../../domain/definition.js';
import { CrashRun } from './crash.run.js';
import { CrashTestError } from './crash-test.error.js';
import { KitError } from './kit.errors.js';
import { shown } from './payload.match.js';
import type { CrashPoint } from './statement.tap.js';
import { handlerOf, type TestedApplication, testedQueue } from './tested.queue.js';

/** CrashTestOptions say how an effect is told. */
export interface CrashTestOptions {
  /** deadline for each run. Default `'60s'`. */
  readonly deadline?: string;
  /**
   * effect looks at what the handler does: a number (or a list, for its length) has to grow by `times` with each job; anything else has to be after each crash
   * as it is after the undisturbed run, which needs `reset`.
   */
  readonly effect: () => Promise<unknown>;
  /** reset is called before each run, the undisturbed one too. Default nothing is. */
  readonly reset?: () => Promise<unknown>;
  /** times is by how much a number has to grow. Default 1. */
  readonly times?: number;
}

/** CrashRound is one job whose run was crashed once. */
export interface CrashRound {
  /** at is where: `before statement 2: INSERT …`, `after COMMIT 1, before its answer`. */
  readonly at: string;
  /** problem is what was wrong afterwards, or undefined. */
  readonly problem: string | undefined;
}

/** CrashTested is what a crash test has tried. */
export interface CrashTested {
  readonly rounds: readonly CrashRound[];
  /** statements are those of the undisturbed run, on all connections of the application's pool. */
  readonly statements: readonly string[];
}

const MAX_ROUNDS = 1_000;
const MAX_TEXT = 120;

/**
 * crashTest runs a handler again and again, each time with a new job, and kills its connection before each of its statements in turn, BEGIN and COMMIT
 * among them, and after each COMMIT before its answer; it lets the queue recover as it does in production, and looks whether the effect is there once.
 *
 * `payload` may be a function of the round, where a second job with the same one would do nothing. The connections that are killed are those of the
 * application's pool, of `pg` or of its DataSource, whoever takes them: nothing else may use it meanwhile. Rejects with CrashTestError, which names
 * every statement that broke it, and with KitError when the undisturbed run already has not the effect.
 */
export async function crashTest<D extends AnyJobDefinition>(
  app: TestedApplication,
  definition: D,
  payload: PayloadInputOf<D> | ((round: number) => PayloadInputOf<D>),
  options: CrashTestOptions,
): Promise<CrashTested> {
  const queue = testedQueue(app);
  handlerOf(queue, definition);
  const run = new CrashRun(queue, definition, parseDuration(options.deadline ?? '60s'));
  const made: ((round: number) => unknown) | undefined = typeof payload === 'function' ? payload : undefined;
  const payloadOf = (round: number): unknown => (made ? made(round) : payload);
  try {
    return await new CrashSeries(run, definition.kind, payloadOf, options).perform();
  } finally {
    await run.close();
  }
}

/** CrashSeries is one crash test. */
class CrashSeries {
  private count = 0;
  private readonly rounds: CrashRound[] = [];

  constructor(
    private readonly run: CrashRun,
    private readonly kind: string,
    private readonly payloadOf: (round: number) => unknown,
    private readonly options: CrashTestOptions,
  ) {}

  async perform(): Promise<CrashTested> {
    const plain = await this.round(undefined);
    const problem = plain.problem ?? this.differs(plain.before, plain.after, plain.after);
    if (problem) throw new KitError(`Undisturbed, the handler of ${this.kind} has not its effect: ${problem}.`);
    for (const moment of ['before', 'after-commit'] as const) await this.each(moment, plain.after);
    const failed = this.rounds.filter((round) => round.problem !== undefined);
    if (failed.length > 0) throw new CrashTestError(this.kind, failed, this.rounds);
    return { rounds: this.rounds, statements: plain.statements };
  }

  /** differs answers what is wrong with an effect, or undefined. */
  private differs(before: unknown, after: unknown, expected: unknown): string | undefined {
    const [was, is] = [countOf(before), countOf(after)];
    const { times = 1 } = this.options;
    if (was !== undefined && is !== undefined)
      return is - was === times ? undefined : `the effect is there ${is - was} times, not ${times}`;
    return isDeepStrictEqual(after, expected)
      ? undefined
      : `the effect is ${shown(after)}, undisturbed it is ${shown(expected)}`;
  }

  private async each(moment: CrashPoint['moment'], expected: unknown): Promise<void> {
    for (let place = 1; place <= MAX_ROUNDS; place += 1) {
      const { after, before, killed, problem } = await this.round({ moment, place });
      if (!killed) return;
      const text = killed.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_TEXT);
      const at =
        moment === 'before' ? `before statement ${place}: ${text}` : `after COMMIT ${place}, before its answer`;
      this.rounds.push({ at, problem: problem ?? this.differs(before, after, expected) });
    }
    throw new KitError(`The handler of ${this.kind} sends more than ${MAX_ROUNDS} statements.`);
  }

  private async round(point: CrashPoint | undefined) {
    await this.options.reset?.();
    const before = await this.options.effect();
    const { killed, problem, statements } = await this.run.perform(this.payloadOf(this.count++), point);
    return { after: await this.options.effect(), before, killed, problem, statements };
  }
}

function countOf(effect: unknown): number | undefined {
  if (Array.isArray(effect)) return effect.length;
  return typeof effect === 'number' || typeof effect === 'bigint' ? Number(effect) : undefined;
}
