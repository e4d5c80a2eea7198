import { withDeadline } from '@holdfast/kernel';

/** Look is what a look at something found. */
export type Look<T> =
  | { readonly type: 'failed'; readonly error: unknown }
  | { readonly type: 'found'; readonly value: T }
  /** Nothing came in time; the look goes on, for whoever asks next. */
  | { readonly type: 'late' };

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

/**
 * SharedLook looks once for all who ask: one look at a time, its answer kept for a moment. So many probes cost as much as one, and none of them opens
 * a connection for itself (K143).
 */
export class SharedLook<T> {
  private kept: { readonly look: Look<T>; readonly until: number } | undefined;
  private lastFound: { readonly at: number; readonly value: T } | undefined;
  private looking: Promise<Look<T>> | undefined;

  constructor(private readonly options: SharedLookOptions<T>) {}

  /** recent is what was last found, if that was within `withinMs`. */
  recent(withinMs: number): T | undefined {
    const { lastFound } = this;
    return lastFound && performance.now() - lastFound.at <= withinMs ? lastFound.value : undefined;
  }

  /** take answers within `withinMs`, and never rejects. */
  async take(withinMs: number): Promise<Look<T>> {
    if (this.kept && performance.now() < this.kept.until) return this.kept.look;
    this.looking ??= this.begin(withinMs).finally(() => (this.looking = undefined));
    const late: Look<T> = { type: 'late' };
    return withDeadline(this.looking, withinMs, () => new Error('late')).catch(() => late);
  }

  private async begin(withinMs: number): Promise<Look<T>> {
    const { freshMs, look } = this.options;
    const startedAt = performance.now();
    let answer: Look<T>;
    try {
      const value = await look(withinMs);
      this.lastFound = { at: performance.now(), value };
      answer = { type: 'found', value };
    } catch (error) {
      answer = { error, type: 'failed' };
    }
    const tookMs = performance.now() - startedAt;
    const keptMs = answer.type === 'failed' ? Math.min(freshMs, FAILURE_FRESH_MS) : Math.max(freshMs, tookMs * REST);
    this.kept = { look: answer, until: performance.now() + keptMs };
    return answer;
  }
}
