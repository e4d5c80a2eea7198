/** UNKNOWN is the label of every kind that nobody has named (M4). */
export const UNKNOWN = '__unknown__';

/** The most kinds that become a label: a bound for kinds that were assembled from data. */
const MOST_KINDS = 1_000;

/** KindFold answers the label of a kind: its name where it was admitted, else `__unknown__`, so that series are bounded whatever is enqueued (K144). */
export class KindFold {
  private readonly known = new Set<string>();

  /** `added` is called once for each label, `__unknown__` first, so that its series can be there at zero. */
  constructor(private readonly added: (label: string) => void) {
    added(UNKNOWN);
  }

  get labels(): readonly string[] {
    return [UNKNOWN, ...this.known];
  }

  /** admit makes labels of kinds that stand in somebody's code. */
  admit(kinds: readonly string[]): void {
    for (const kind of kinds) {
      if (this.known.has(kind) || this.known.size >= MOST_KINDS) continue;
      this.known.add(kind);
      this.added(kind);
    }
  }

  labelOf(kind: string): string {
    return this.known.has(kind) ? kind : UNKNOWN;
  }
}
