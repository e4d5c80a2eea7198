import { randomUUID } from 'node:crypto';
import type { ClaimedJob, ClaimOrder, JobStore } from '../ports/job-store.js';
import type { Reporter } from '../ports/reporter.js';

/** Claimed is what a claim took, and the monotonic moment before it was sent: its leases began no earlier (Q13). */
export interface Claimed {
  readonly jobs: readonly ClaimedJob[];
  readonly sentAt: number;
}

interface Unanswered {
  readonly since: number;
  readonly token: string;
}

/** A claim may still be at work in the server when its connection is gone: its token is asked for once more after this long. */
const LATE_CLAIM_MS = 15_000;

/** Claimer sends claims, each under a token of its own; one whose answer was lost is given back by it (R5). */
export class Claimer {
  private unanswered: Unanswered[] = [];

  constructor(
    private readonly store: JobStore,
    private readonly reporter: Reporter,
    private readonly owner: string,
  ) {}

  /** owes tells whether claims without an answer are still to be given back. */
  get owes(): boolean {
    return this.unanswered.length > 0;
  }

  async claim(order: Omit<ClaimOrder, 'owner' | 'token'>): Promise<Claimed> {
    return this.send(async (token) => this.store.claim({ ...order, owner: this.owner, token }));
  }

  async claimSuspect(order: Omit<ClaimOrder, 'owner' | 'token'>): Promise<Claimed> {
    return this.send(async (token) => {
      const job = await this.store.claimSuspect({ ...order, owner: this.owner, token });
      return job ? [job] : [];
    });
  }

  /** giveBack returns what claims without an answer have taken. Rejects when the store is not reached; then they are still owed. */
  async giveBack(): Promise<void> {
    for (const claim of [...this.unanswered]) {
      const jobs = await this.store.giveBackClaim(claim.token);
      if (jobs > 0) this.reporter.report({ type: 'claim.given_back', jobs, token: claim.token });
      if (jobs > 0 || performance.now() - claim.since > LATE_CLAIM_MS) {
        this.unanswered = this.unanswered.filter((other) => other !== claim);
      }
    }
  }

  private async send(claim: (token: string) => Promise<ClaimedJob[]>): Promise<Claimed> {
    const token = randomUUID();
    const sentAt = performance.now();
    try {
      return { jobs: await claim(token), sentAt };
    } catch (error) {
      this.unanswered.push({ since: performance.now(), token });
      throw error;
    }
  }
}
