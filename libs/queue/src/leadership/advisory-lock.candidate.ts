import type { SqlExecutor } from '@holdfast/kernel';
import { NotLeaderError } from '../errors/not-leader.error.js';
import type { Candidate, LeaderTransactionOptions } from '../ports/leadership.js';
import { checkDeadline } from './deadline.check.js';
import type { LeaderSession } from './leader.session.js';
import { LossListeners } from './loss.listeners.js';
import type { Stake } from './stake.js';

/** CandidateHome is what a candidate needs of its leadership. */
export interface CandidateHome {
  /** enter makes it one of those that stand. */
  enter(candidate: Stake): void;
  leave(candidate: Stake): Promise<void>;
  /** session answers the session of this process, a new one where there is none. */
  session(tickMs: number): Promise<LeaderSession>;
}

/** AdvisoryLockCandidate stands for one name on the session that its process shares. */
export class AdvisoryLockCandidate implements Candidate, Stake {
  private acquiring: Promise<boolean> | undefined;
  /** giveUp ends the wait of an acquire that is under way. */
  private giveUp: () => void = () => undefined;
  private readonly listeners = new LossListeners();
  private session: LeaderSession | undefined;
  private stands = true;

  constructor(
    private readonly home: CandidateHome,
    readonly name: string,
    readonly key: number,
    readonly tickMs: number,
  ) {}

  get beliefLeftMs(): number {
    return this.stands ? (this.session?.beliefLeftMs(this) ?? 0) : 0;
  }

  get isLeader(): boolean {
    return this.beliefLeftMs > 0;
  }

  get wanted(): boolean {
    return this.stands;
  }

  acquire(): Promise<boolean> {
    this.acquiring ??= this.stand().finally(() => (this.acquiring = undefined));
    return this.acquiring;
  }

  async confirm(): Promise<boolean> {
    return this.stands && this.session !== undefined && (await this.session.prove(this)) && this.isLeader;
  }

  lost(reason: Error): void {
    this.listeners.tell(reason);
  }

  onLost(listener: (reason: Error) => void): () => void {
    return this.listeners.add(listener);
  }

  async release(): Promise<void> {
    this.stands = false;
    this.giveUp();
    await this.session?.give(this);
    await this.home.leave(this);
  }

  async transaction<T>(
    work: (executor: SqlExecutor) => Promise<T>,
    options: LeaderTransactionOptions = {},
  ): Promise<T> {
    checkDeadline(options);
    if (!this.session || !this.isLeader) throw new NotLeaderError(this.name);
    return this.session.transaction(this, work, options.deadlineMs ?? this.tickMs);
  }

  /** One that is released meanwhile is answered at once: the server may not answer for long. */
  private async stand(): Promise<boolean> {
    this.home.enter(this);
    this.stands = true;
    const released = new Promise<boolean>((resolve) => (this.giveUp = () => resolve(false)));
    return Promise.race([released, this.takeOrLeave()]);
  }

  private async takeOrLeave(): Promise<boolean> {
    try {
      return await this.take();
    } finally {
      // It may have been released meanwhile, when there was no session yet to be closed.
      if (!this.stands) await this.home.leave(this);
    }
  }

  private async take(): Promise<boolean> {
    const before = this.session;
    const session = (this.session = await this.home.session(this.tickMs));
    try {
      return await session.take(this);
    } catch (error) {
      // A session that nobody knew to be dead says nothing of the server: a new one is asked at once.
      if (session !== before || !session.ended) throw error;
      this.session = await this.home.session(this.tickMs);
      return this.session.take(this);
    }
  }
}
