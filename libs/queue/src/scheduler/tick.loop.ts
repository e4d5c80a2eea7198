import { startTimer, type Timer } from '@holdfast/kernel';
import type { DutyLedger } from '../ports/duty.ledger.js';
import type { Reporter } from '../ports/reporter.js';
import type { DutyTurn } from './duty.turn.js';
import type { LeaderSeat } from './leader.seat.js';
import { StageWatch } from './stage.watch.js';

/** TickLoopParts are what the loop works with. */
export interface TickLoopParts {
  readonly ledger: DutyLedger;
  readonly reporter: Reporter;
  readonly seat: LeaderSeat;
  readonly tickMs: number;
  readonly turn: DutyTurn;
}

/** LoopSigns are the loop's signs of life, by the monotonic clock. */
export interface LoopSigns {
  lastError: unknown;
  lastStepAt: number | undefined;
  lastTickAt: number | undefined;
  leaderSeenAt: number | undefined;
}

/**
 * TickLoop ticks (S1): at once, then every interval, on a grid of its own, so that a late tick is followed by the next at its time and not by a burst.
 *
 * A tick proves or takes leadership. Where this process leads, duties have their turn after each tick, and between ticks when one is due; the turn goes on
 * beside the ticks, so that a slow duty delays none. The loop ends when it is stopped and by nothing else.
 */
export class TickLoop {
  readonly signs: LoopSigns = {
    lastError: undefined,
    lastStepAt: undefined,
    lastTickAt: undefined,
    leaderSeenAt: undefined,
  };
  private readonly dutiesWatch: StageWatch;
  private readonly leadershipWatch: StageWatch;
  private loop: Promise<void> | undefined;
  private roused = false;
  private stopped = false;
  private tickAt = performance.now();
  private timer: Timer | undefined;
  private turning: Promise<void> | undefined;
  private wakeUp: (() => void) | undefined;

  constructor(private readonly parts: TickLoopParts) {
    const { reporter, tickMs } = parts;
    this.dutiesWatch = new StageWatch('duties', tickMs, reporter);
    this.leadershipWatch = new StageWatch('leadership', tickMs, reporter);
  }

  /** ended resolves when the last tick has ended. */
  get ended(): Promise<void> {
    return this.loop ?? Promise.resolve();
  }

  start(): void {
    this.loop ??= this.run();
  }

  /** stop lets nothing begin any more and waits for the turn. A tick in flight may wait for the server, until leadership is given up. Idempotent. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.parts.turn.stop();
    this.rouse();
    await this.turning;
  }

  /** wake looks for duties now, if this process leads. */
  wake(): void {
    this.parts.turn.nextAt = 0;
    this.rouse();
  }

  private async nap(): Promise<void> {
    const { turn } = this.parts;
    const until = this.turning ? this.tickAt : Math.min(this.tickAt, turn.nextAt);
    await new Promise<void>((resolve) => {
      this.wakeUp = resolve;
      this.timer = startTimer(Math.max(0, until - performance.now()), resolve);
      if (this.roused) resolve();
    });
    this.roused = false;
    this.timer?.clear();
    this.wakeUp = undefined;
  }

  private rouse(): void {
    this.roused = true;
    this.wakeUp?.();
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      const ticks = performance.now() >= this.tickAt;
      if (ticks) await this.tick();
      if (this.stopped) return;
      if (ticks || performance.now() >= this.parts.turn.nextAt) this.takeTurn();
      await this.nap();
    }
  }

  private takeTurn(): void {
    const { seat, turn } = this.parts;
    if (this.turning) return;
    // Nothing is started by who does not lead; what is due then is found at the next tick.
    turn.nextAt = Infinity;
    if (!seat.isLeader) return;
    this.turning = this.dutiesWatch
      .run(() => turn.run())
      .then(({ retryMs }) => {
        if (retryMs !== undefined) turn.nextAt = Math.min(turn.nextAt, performance.now() + retryMs);
      })
      .finally(() => {
        this.turning = undefined;
        this.rouse();
      });
  }

  private async tick(): Promise<void> {
    const { ledger, reporter, seat, tickMs } = this.parts;
    const now = performance.now();
    const lagMs = Math.max(0, now - this.tickAt);
    // The next one on the grid, however many were missed.
    this.tickAt += tickMs * (Math.floor(lagMs / tickMs) + 1);
    const { error, retryMs } = await this.leadershipWatch.run(async () => {
      if (await seat.prove()) this.signs.leaderSeenAt = performance.now();
      else if (!this.stopped) await this.lookForLeader(ledger);
    });
    this.signs.lastError = error;
    this.signs.lastStepAt = performance.now();
    if (retryMs === undefined) this.signs.lastTickAt = performance.now();
    else this.tickAt = Math.min(this.tickAt, performance.now() + retryMs);
    reporter.report({ type: 'scheduler.tick', isLeader: seat.isLeader, lagMs });
  }

  /** What others do shows in their last start. */
  private async lookForLeader(ledger: DutyLedger): Promise<void> {
    const agoMs = await ledger.lastStartMsAgo();
    if (agoMs !== undefined) this.signs.leaderSeenAt = performance.now() - Math.max(0, agoMs);
  }
}
