import { withDeadline } from '@holdfast/kernel';

/** Look is what a look at something found. */
export type Look<T> =
  | { readonly type: 'failed'; readonly error: unknown }
  | { readonly type: 'found'; readonly value: T }
  /** Nothing came in time; the look goes on, for whoever asks next. */
  | { readonly type: 'late' };

/** Taken is the look of somebody who had this much time for it. */
interface Taken<T> {
  readonly look: Look<T>;
  /** ranOut: it failed when its time was up, which says nothing to who has more. */
  readonly ranOut: boolean;
  readonly withinMs: number;
}

/** SharedLookOptions say how something is looked at, and for how long an answer holds. */
export interface SharedLookOptions<T> {
  /** freshMs is how long what was found is answered again without another look. */
  readonly freshMs: number;
  /** look is given the time that whoever caused it has. */
  readonly look: (withinMs: number) => Promise<T>;
}

/** How long a failure is answered again, so that many probes at once do not hammer a server that has just come back. */
const FAILURE_FRESH_MS = 1_000;
/** A look that took long is repeated no more often than this many times its length. */
const REST = 20;
/** A look that failed after this part of its time was cut off; timers are not exact. */
const TIME_UP = 0.9;

/**
 * SharedLook looks once for all who ask: one look at a time, its answer kept for a moment. So many probes cost as much as one, and none of them opens
 * a connection for itself (K143).
 */
export class SharedLook<T> {
  private kept: { readonly taken: Taken<T>; readonly until: number } | undefined;
  private lastFound: { readonly at: number; readonly value: T } | undefined;
  private looking: Promise<Taken<T>> | undefined;

  constructor(private readonly options: SharedLookOptions<T>) {}

  /** recent is what was last found, if that was within `withinMs`. */
  recent(withinMs: number): T | undefined {
    const { lastFound } = this;
    return lastFound && performance.now() - lastFound.at <= withinMs ? lastFound.value : undefined;
  }

  /** take answers within `withinMs`, and never rejects. A look that was cut off because who began it had less time is made again. */
  async take(withinMs: number): Promise<Look<T>> {
    const endsAt = performance.now() + withinMs;
    const saysNothing = ({ ranOut, withinMs: had }: Taken<T>) => ranOut && had < withinMs;
    for (;;) {
      const { kept } = this;
      if (kept && performance.now() < kept.until && !saysNothing(kept.taken)) return kept.taken.look;
      const leftMs = endsAt - performance.now();
      if (leftMs <= 0) return { type: 'late' };
      this.looking ??= this.begin(leftMs, withinMs).finally(() => (this.looking = undefined));
      const taken = await withDeadline(this.looking, leftMs, () => new Error('late')).catch(() => undefined);
      if (!taken) return { type: 'late' };
      if (!saysNothing(taken)) return taken.look;
    }
  }

  private async begin(leftMs: number, withinMs: number): Promise<Taken<T>> {
    const { freshMs, look } = this.options;
    const startedAt = performance.now();
    let answer: Look<T>;
    try {
      const value = await look(leftMs);
      this.lastFound = { at: performance.now(), value };
      answer = { type: 'found', value };
    } catch (error) {
      answer = { error, type: 'failed' };
    }
    const tookMs = performance.now() - startedAt;
    const keptMs = answer.type === 'failed' ? Math.min(freshMs, FAILURE_FRESH_MS) : Math.max(freshMs, tookMs * REST);
    const taken = { look: answer, ranOut: answer.type === 'failed' && tookMs >= leftMs * TIME_UP, withinMs };
    this.kept = { taken, until: performance.now() + keptMs };
    return taken;
  }
}
