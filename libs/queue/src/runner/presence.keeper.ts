import { pause } from '@holdfast/kernel';
import type { DeclaredRetention, RunnerPresence, RunnerRoster } from '../ports/runner.roster.js';
import type { StageGuard } from './stage.guard.js';

const EVERY_MS = 15_000;
/** A shutdown does not wait longer for the database: the row counts no more when it has not been renewed for long enough. */
const WITHDRAW_WITHIN_MS = 2_000;

/**
 * PresenceKeeper says that a runner is there, at its start and again every 15 s, and takes it back at its stop (S6); at its start also what its definitions say of
 * retention (S5). What fails is told and tried again.
 */
export class PresenceKeeper {
  private declared = false;
  private readonly ended = new AbortController();
  private loop: Promise<void> | undefined;

  constructor(
    private readonly roster: RunnerRoster,
    private readonly presence: RunnerPresence,
    private readonly retentions: readonly DeclaredRetention[],
    private readonly guard: StageGuard,
    private readonly everyMs = EVERY_MS,
  ) {}

  start(): void {
    this.loop ??= this.run();
  }

  /** stop is bounded and never rejects. */
  async stop(): Promise<void> {
    this.ended.abort();
    if (!this.loop) return;
    const over = new AbortController();
    const withdrawn = this.loop.then(() => this.roster.withdraw(this.presence.id)).catch(() => undefined);
    await Promise.race([withdrawn, pause(WITHDRAW_WITHIN_MS, over.signal)]);
    over.abort();
  }

  /** announce says once what the definitions say: an older deployment that still runs must not say it again and again. */
  private async announce(): Promise<void> {
    if (!this.declared) await this.roster.declare(this.retentions);
    this.declared = true;
    await this.roster.announce(this.presence);
  }

  private async run(): Promise<void> {
    const { signal } = this.ended;
    while (!signal.aborted) {
      await this.guard.run('presence', () => this.announce());
      await pause(this.guard.retryInMs ?? this.everyMs, signal);
    }
  }
}
