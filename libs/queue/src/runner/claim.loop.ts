import { startTimer, type Timer } from '@holdfast/kernel';
import type { DeclaredEnding } from '../domain/on-end.js';
import type { IntakeResult, JobStore } from '../ports/job-store.js';
import type { Reporter } from '../ports/reporter.js';
import type { StageTrouble } from '../ports/runner.vitals.js';
import type { LoopStage } from '../ports/runner.events.js';
import type { Claimed, Claimer } from './claimer.js';
import type { KindSlots } from './kind.slots.js';
import type { Look } from './look.js';
import { LookPlan } from './look.plan.js';
import type { PauseWatch } from './pause.watch.js';
import type { StageGuard } from './stage.guard.js';
import type { SuspectTurn } from './suspect.turn.js';

const INTAKE_LIMIT = 1_000;
const REAP_LIMIT = 100;
const KINDS_EVERY_MS = 60_000;

/** ClaimLoopParts are what the loop works with. */
export interface ClaimLoopParts {
  readonly claimer: Claimer;
  /** endings are what follows on the ends of its kinds: said before anything is taken (R14). */
  readonly endings: readonly DeclaredEnding[];
  readonly guard: StageGuard;
  /** idle is told for which kinds a wake is wanted, before each nap; none while the loop looks by itself (Q10). */
  readonly idle: (kinds: readonly string[]) => void;
  readonly intakeGapMs: number;
  /** kinds of this loop, and all kinds that have a handler here, also those that it leaves out. */
  readonly kinds: { readonly all: readonly string[]; readonly run: readonly string[] };
  /** pauses is shown every look. */
  readonly pauses: PauseWatch;
  readonly pollMs: number;
  readonly reporter: Reporter;
  readonly slots: KindSlots;
  /** start runs what was claimed; the slots are taken when it returns. */
  readonly start: (claimed: Claimed) => void;
  readonly store: JobStore;
  readonly suspects: SuspectTurn;
}

/**
 * ClaimLoop finds work (R18): a wake or a poll leads to intake, reap and claim; a full claim is followed by the next at once. Every other poll leaves out
 * what is seldom there, leases that ran out and suspects, so that an idle process sends less than two statements a second (P8).
 *
 * One pass at a time, so that many freed slots become one claim. A slot that becomes free leads to a claim at once where more may be due; else to
 * an intake, no more often than every `intakeGapMs`, because the end of a run is what waiting requests wait for. Each stage fails by itself
 * and is tried again after a growing delay; the loop ends when it is stopped and by nothing else.
 */
export class ClaimLoop {
  private changed = false;
  private declared = false;
  /** found tells whether the claims of this pass took anything; undefined without any claim. */
  private found: boolean | undefined;
  private intakeAt = -Infinity;
  private kindsAt = -Infinity;
  private readonly looks: LookPlan;
  private passedAt: number | undefined;
  /** roused: something was said while no nap could be ended by it. */
  private roused = false;
  private loop: Promise<void> | undefined;
  private stopped = false;
  private steppedAt = performance.now();
  private timer: Timer | undefined;
  private unknown = '';
  private wakeUp: (() => void) | undefined;

  constructor(private readonly parts: ClaimLoopParts) {
    this.looks = new LookPlan(parts.pollMs);
  }

  /** lastPassAt is when a pass last ended with no stage in trouble. */
  get lastPassAt(): number | undefined {
    return this.passedAt;
  }

  /** lastStepAt is when the loop last did anything. */
  get lastStepAt(): number {
    return this.steppedAt;
  }

  /** troubles are the stages that fail now. */
  get troubles(): StageTrouble[] {
    return this.parts.guard.listed;
  }

  /** dueIn says that a job which was put back is due after that time; what comes after the poll is left to it. */
  dueIn(ms: number): void {
    if (this.looks.dueIn(ms)) this.rouse();
  }

  /** enqueued says that this process has committed requests: they are looked for as what a freed slot leads to, at once but not often. */
  enqueued(): void {
    this.changed = true;
    this.rouse();
  }

  /** freed says that a slot has become free. */
  freed(): void {
    this.changed = true;
    this.rouse();
  }

  /** notified says that there may be work: a look without what only polls do. */
  notified(): void {
    this.looks.notified();
    this.rouse();
  }

  start(): void {
    this.loop ??= this.run();
  }

  /** stop claims nothing any more and waits for the statement in flight; claims without an answer are given back once more. Idempotent. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.rouse();
    await this.loop;
    await this.parts.claimer.giveBack().catch(() => undefined);
  }

  /** wake asks for a full look now. */
  wake(): void {
    this.looks.ask();
    this.rouse();
  }

  private async claim(fullLook: boolean): Promise<boolean> {
    const { claimer, guard, reporter, slots, start } = this.parts;
    const kinds = slots.ask();
    const limit = slots.free;
    if (limit <= 0 || kinds.length === 0) {
      guard.forget('claim');
      return false;
    }
    const claimed = await this.stage('claim', () => claimer.claim({ fullLook, kinds, limit }));
    if (!claimed) return false;
    slots.note(kinds, limit, claimed.jobs);
    this.found = this.found === true || claimed.jobs.length > 0;
    start(claimed);
    reporter.report({ type: 'claim.answered', asked: limit, fullLook, got: claimed.jobs.length });
    return claimed.jobs.length >= limit;
  }

  /** declare says once which jobs follow on the ends of others; an older deployment that still runs must not say it again and again. */
  private async declare(): Promise<void> {
    const { endings, kinds, store } = this.parts;
    const said = await this.stage('endings', () => store.declareEndings(kinds.run, endings).then(() => true));
    this.declared = said ?? false;
  }

  /** followHint goes on after the claim that a hint led to: where it found nothing the hint may have been of a request, else that can wait a little. */
  private async followHint(): Promise<void> {
    if (this.found) this.changed = true;
    else if (await this.intake()) await this.claim(false);
  }

  /** intake answers whether it has made or moved jobs. */
  private async intake(): Promise<boolean> {
    const { reporter, store } = this.parts;
    let changed = false;
    let result: IntakeResult | undefined;
    do {
      this.intakeAt = performance.now();
      result = await this.stage('intake', () => store.intake(INTAKE_LIMIT));
      if (result && result.created + result.merged + result.waiting > 0)
        reporter.report({ type: 'intake.done', result });
      changed ||= result !== undefined && result.created + result.merged > 0;
    } while (result?.more && !this.stopped);
    return changed;
  }

  /** isIdle: nothing runs here, nothing is owed and nothing waits, which one statement tells: then a poll does no more (P8). */
  private async isIdle(): Promise<boolean> {
    const { claimer, guard, kinds, reporter, slots, store } = this.parts;
    if (slots.running > 0 || this.changed || claimer.owes || guard.listed.length > 0) return false;
    const waits = await this.stage('claim', () => store.hasWork(kinds.run));
    if (waits) return false;
    this.looks.polled();
    // What could not be asked has failed, and is tried again as a claim is.
    if (waits === undefined) return true;
    reporter.report({ type: 'claim.answered', asked: slots.free, fullLook: true, got: 0 });
    if (performance.now() - this.kindsAt >= KINDS_EVERY_MS) await this.reportUnknownKinds();
    return true;
  }

  /** lookAround is what only a poll or a wake does. */
  private async lookAround({ sweep }: Look): Promise<void> {
    const { claimer } = this.parts;
    this.looks.polled();
    if (claimer.owes) await this.stage('give-back', () => claimer.giveBack());
    await this.intake();
    if (sweep) await this.reap();
    if (performance.now() - this.kindsAt >= KINDS_EVERY_MS) await this.reportUnknownKinds();
  }

  /** nap waits for a wake, a freed slot, or the next moment at which there is something to do. */
  private async nap(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.wakeUp = resolve;
      this.timer = startTimer(Math.max(0, ms), resolve);
    });
    this.timer?.clear();
    this.wakeUp = undefined;
  }

  /** pass does everything there is to do now, and answers how long to wait for more. */
  private async pass(): Promise<number> {
    const { guard, intakeGapMs, slots, suspects } = this.parts;
    this.roused = false;
    if (!this.declared) await this.declare();
    if (!this.declared) return guard.delayOf('endings');
    const look = this.looks.take(guard.retryInMs === 0, slots.free > 0);
    if (look?.polled && !look.asked && (await this.isIdle()))
      return Math.min(this.looks.pollInMs, guard.retryInMs ?? Infinity);
    if (look?.polled) await this.lookAround(look);
    if (this.stopped) return 0;
    const move = await this.stage('suspects', () => suspects.next(look?.sweep ?? false));
    if (move?.type === 'alone') this.parts.start(move.claimed);
    if (move?.type === 'alone' || move?.type === 'wait')
      return Math.min(move.type === 'wait' ? move.forMs : Infinity, this.looks.pollInMs);
    let full = look || slots.isHungry ? await this.claim(look?.polled ?? false) : false;
    while (full && slots.isHungry && !this.stopped) full = await this.claim(false);
    if (look && !look.polled) await this.followHint();
    if (this.changed && !slots.isHungry && slots.free > 0) {
      const sinceMs = performance.now() - this.intakeAt;
      if (sinceMs < intakeGapMs) return intakeGapMs - sinceMs;
      this.changed = false;
      await this.intake();
      await this.claim(false);
    }
    return slots.isHungry && guard.retryInMs === undefined
      ? 0
      : Math.min(this.looks.pollInMs, guard.retryInMs ?? Infinity);
  }

  /** reap takes back leases that ran out; where there are more than one statement takes, the next poll goes on. */
  private async reap(): Promise<void> {
    const { kinds, reporter, store } = this.parts;
    const result = await this.stage('reap', () => store.reap(kinds.run, REAP_LIMIT));
    const count = result ? result.cancelled.length + result.deadLettered.length + result.returned.length : 0;
    if (result && count > 0) reporter.report({ type: 'reap.done', result });
    if (count >= REAP_LIMIT) this.looks.sweepAgain();
  }

  private async reportUnknownKinds(): Promise<void> {
    const { kinds, reporter, store } = this.parts;
    this.kindsAt = performance.now();
    const unknown = await this.stage('kinds', () => store.unknownKinds(kinds.all));
    if (!unknown || unknown.join() === this.unknown) return;
    this.unknown = unknown.join();
    if (unknown.length > 0) reporter.report({ type: 'kinds.unknown', kinds: unknown });
  }

  /** rest says for which kinds a wake is wanted, and naps until there is something to do. */
  private async rest(waitMs: number): Promise<void> {
    const { idle, slots } = this.parts;
    idle(this.looks.sparesWakes ? [] : slots.open);
    await this.nap(slots.free > 0 ? Math.min(waitMs, this.looks.hintInMs) : waitMs);
  }

  private rouse(): void {
    this.roused = true;
    this.wakeUp?.();
  }

  private async run(): Promise<void> {
    const { guard } = this.parts;
    while (!this.stopped) {
      this.found = undefined;
      const waitMs = await this.stage('pass', () => this.pass());
      if (this.stopped) return;
      if (this.found !== undefined) this.looks.looked(this.found);
      if (waitMs === undefined) {
        // What fails outside every stage is a mistake of ours, or of a store: no reason to end for good, and told as every other.
        await this.nap(guard.delayOf('pass'));
        continue;
      }
      if (guard.listed.length === 0) this.passedAt = this.steppedAt;
      const more = this.looks.isAsked || this.roused || (this.changed && this.parts.slots.isHungry);
      // A turn of the event loop lets what ends together free its slots together.
      if (more || waitMs <= 0) await new Promise((resolve) => setImmediate(resolve));
      else await this.rest(waitMs);
    }
  }

  /** stage is a step that may fail by itself; with each the loop proves that it moves. */
  private async stage<T>(stage: LoopStage, work: () => Promise<T>): Promise<T | undefined> {
    if (this.stopped) return undefined;
    this.steppedAt = performance.now();
    const answer = await this.parts.guard.run(stage, work);
    this.parts.pauses.look();
    this.steppedAt = performance.now();
    return answer;
  }
}
