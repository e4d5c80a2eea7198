import type { JobStore } from '../ports/job-store.js';
import type { Reporter } from '../ports/reporter.js';

/** PauseWatch tells when a kind that runs here was paused or resumed, once the store has seen it (A1). */
export class PauseWatch {
  private known: readonly string[] = [];
  private seen: readonly string[] | undefined;

  constructor(
    private readonly store: JobStore,
    private readonly kinds: readonly string[],
    private readonly reporter: Reporter,
  ) {}

  /** paused are the kinds that would run here and are paused. */
  get paused(): readonly string[] {
    return this.known;
  }

  /** look compares what the store saw last with what was told; it asks nobody. */
  look(): void {
    const { pausedKinds } = this.store;
    if (pausedKinds === this.seen) return;
    this.seen = pausedKinds;
    const before = this.known;
    this.known = this.kinds.filter((kind) => pausedKinds.includes(kind));
    for (const kind of this.known) if (!before.includes(kind)) this.reporter.report({ type: 'kind.paused', kind });
    for (const kind of before) if (!this.known.includes(kind)) this.reporter.report({ type: 'kind.resumed', kind });
  }
}
