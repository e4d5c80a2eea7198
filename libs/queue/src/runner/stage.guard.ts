import type { LoopStage } from '../ports/runner.events.js';
import type { Reporter } from '../ports/reporter.js';
import type { StageTrouble } from '../ports/runner.vitals.js';

const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 15_000;

interface Trouble extends StageTrouble {
  readonly notBefore: number;
}

/** StageGuard lets the loop live through errors: each stage that fails is told, waits by itself, longer each time, and holds up no other (R18). */
export class StageGuard {
  private readonly troubles = new Map<LoopStage, Trouble>();

  constructor(
    private readonly reporter: Reporter,
    private readonly longestDelayMs = LONGEST_DELAY_MS,
  ) {}

  /** retryInMs is when the first stage that waits may be tried again, or undefined. The report of kinds waits for its own turn. */
  get retryInMs(): number | undefined {
    const waiting = [...this.troubles].filter(([stage]) => stage !== 'kinds');
    const moments = waiting.map(([, { notBefore }]) => notBefore);
    return moments.length > 0 ? Math.max(0, Math.min(...moments) - performance.now()) : undefined;
  }

  /** listed are the stages that fail now. */
  get listed(): StageTrouble[] {
    return [...this.troubles.values()].map(({ error, failures, since, stage }) => ({ error, failures, since, stage }));
  }

  /** delayOf is how long a stage still waits after its last failure; 0 when it does not. */
  delayOf(stage: LoopStage): number {
    return Math.max(0, (this.troubles.get(stage)?.notBefore ?? 0) - performance.now());
  }

  /** forget lets go of a stage that there is no reason to try again. */
  forget(stage: LoopStage): void {
    this.troubles.delete(stage);
  }

  /** run answers what the stage answers; undefined when it failed, or waits after an earlier failure. It never rejects. */
  async run<T>(stage: LoopStage, work: () => Promise<T>): Promise<T | undefined> {
    const trouble = this.troubles.get(stage);
    const startedAt = performance.now();
    if (trouble && startedAt < trouble.notBefore) return undefined;
    try {
      const answer = await work();
      if (trouble) this.reporter.report({ type: 'loop.recovered', failures: trouble.failures, stage });
      this.troubles.delete(stage);
      return answer;
    } catch (error) {
      const { failures = 0, since = startedAt } = trouble ?? {};
      this.note({ error, failures: failures + 1, since, stage });
      return undefined;
    }
  }

  private note(trouble: StageTrouble): void {
    const { error, failures, stage } = trouble;
    const growth = Math.min(this.longestDelayMs, FIRST_DELAY_MS * 2 ** Math.min(failures - 1, 20));
    const delayMs = Math.round(growth * (0.75 + Math.random() / 2));
    this.troubles.set(stage, { ...trouble, notBefore: performance.now() + delayMs });
    this.reporter.report({ type: 'loop.failed', delayMs, error, failures, stage });
  }
}
