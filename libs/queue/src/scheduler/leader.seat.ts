import { property } from '@holdfast/kernel';
import { NotLeaderError } from '../errors/not-leader.error.js';
import type { Candidate, Leadership } from '../ports/leadership.js';
import type { Reporter } from '../ports/reporter.js';

/** SCHEDULER is the name that schedulers stand for. */
export const SCHEDULER = 'holdfast.scheduler';

const POOLER = 'queue.pooler';

/** LeaderSeat is this scheduler's candidate, and says when it becomes the leader and when it is no longer (L1, L2). */
export class LeaderSeat {
  readonly candidate: Candidate;
  private leading = false;
  private refused = false;
  private readonly unsubscribe: () => void;

  /** `lost` is called when leadership is lost or given up, after it has been told. Throws what Leadership.candidate throws. */
  constructor(
    leadership: Leadership,
    tickMs: number,
    private readonly reporter: Reporter,
    private readonly lost: (reason: Error) => void,
  ) {
    this.candidate = leadership.candidate(SCHEDULER, { tickMs });
    this.unsubscribe = this.candidate.onLost((reason) => this.lose(reason));
  }

  /** isLeader: within the belief deadline; start nothing without it (L3). */
  get isLeader(): boolean {
    return this.leading && this.candidate.isLeader;
  }

  /** leave gives the name up, so that another one leads at its next tick. It never rejects. */
  async leave(): Promise<void> {
    const { leading } = this;
    this.leading = false;
    this.unsubscribe();
    await this.candidate.release();
    if (!leading) return;
    this.reporter.report({ type: 'queue.depth_cleared' });
    this.reporter.report({ type: 'leader.released', name: SCHEDULER });
  }

  /** prove proves leadership, or tries to take it, and answers whether this process leads. Rejects with what Candidate.acquire rejects with. */
  async prove(): Promise<boolean> {
    const leads = this.leading ? await this.candidate.confirm() : await this.acquire();
    if (leads) this.gain();
    else this.lose(new NotLeaderError(SCHEDULER));
    return leads;
  }

  private async acquire(): Promise<boolean> {
    try {
      const leads = await this.candidate.acquire();
      this.refused = false;
      return leads;
    } catch (error) {
      this.noteRefusal(error);
      throw error;
    }
  }

  private gain(): void {
    if (this.leading) return;
    this.leading = true;
    this.reporter.report({ type: 'leader.elected', name: SCHEDULER });
  }

  private lose(error: Error): void {
    if (!this.leading) return;
    this.leading = false;
    this.reporter.report({ type: 'leader.lost', error, name: SCHEDULER });
    this.reporter.report({ type: 'queue.depth_cleared' });
    this.lost(error);
  }

  /** What cannot change by itself is told once; each try meets another backend, so its words differ. */
  private noteRefusal(error: unknown): void {
    if (this.refused || !(error instanceof Error) || property(error, 'code') !== POOLER) return;
    this.refused = true;
    this.reporter.report({ type: 'leader.refused', error, name: SCHEDULER });
  }
}
