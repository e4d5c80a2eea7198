import type { JobRow } from './job.row.js';

const PRIORITIES = 10;
const NO_MARK = { due: '-infinity', id: '0' };

/** ClaimMarks are the marks of some kinds as claim-jobs takes them: ten to a kind. */
export interface ClaimMarks {
  readonly markIds: string[];
  readonly marks: string[];
}

/**
 * LowWaterMarks remember, per kind and priority, the last job that this process claimed: what comes before it in the index is claimed, and its
 * entries are dead but stay there while an old transaction keeps vacuum away. A quick look starts at the mark (Q14).
 *
 * A mark is a hint: jobs that appear behind it (committed late, given back, of a claim that failed) are found by the next full look.
 */
export class LowWaterMarks {
  private readonly byRange = new Map<string, { readonly due: string; readonly id: string }>();

  /** clear forgets all marks: jobs have come back to where they were. */
  clear(): void {
    this.byRange.clear();
  }

  /** of answers the marks of the kinds in order; a full look starts at the head of the index. */
  of(kinds: readonly string[], fullLook: boolean): ClaimMarks {
    const ranges = kinds.flatMap((kind) =>
      Array.from({ length: PRIORITIES }, (_, priority) => rangeOf(kind, priority)),
    );
    const marks = ranges.map((range) => (fullLook ? undefined : this.byRange.get(range)) ?? NO_MARK);
    return { markIds: marks.map(({ id }) => id), marks: marks.map(({ due }) => due) };
  }

  /** remember takes the rows of a claim, in the order of the index. It may move a mark back: older jobs have appeared, and there may be more. */
  remember(rows: readonly JobRow[]): void {
    for (const row of rows) this.byRange.set(rangeOf(row.kind, row.priority), { due: row.due_text, id: row.id });
  }
}

function rangeOf(kind: string, priority: number): string {
  return `${priority} ${kind}`;
}
