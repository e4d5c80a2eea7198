import type { SqlExecutor } from '@holdfast/kernel';
import { LeadershipClosedError } from '../errors/leadership-closed.error.js';
import { NotLeaderError } from '../errors/not-leader.error.js';
import type { Candidate, LeaderTransactionOptions } from '../ports/leadership.js';
import type { CandidateRegistry } from './candidate.registry.js';
import { checkDeadline } from './deadline.check.js';

/** LeaderTransactions open the transactions of leaders who need no session of their own: ControlConnections do. */
export interface LeaderTransactions {
  transaction<T>(work: (executor: SqlExecutor) => Promise<T>, options?: LeaderTransactionOptions): Promise<T>;
}

/** AlwaysCandidate is the leader from its first `acquire` to its `release`. */
export class AlwaysCandidate implements Candidate {
  private leads = false;

  constructor(
    readonly name: string,
    private readonly tickMs: number,
    private readonly transactions: LeaderTransactions,
    private readonly registry: CandidateRegistry,
  ) {}

  get beliefLeftMs(): number {
    return this.isLeader ? this.tickMs : 0;
  }

  get isLeader(): boolean {
    return this.leads && !this.registry.closed;
  }

  acquire(): Promise<boolean> {
    if (this.registry.closed) return Promise.reject(new LeadershipClosedError());
    try {
      this.registry.enter(this);
    } catch (error) {
      return Promise.reject(error);
    }
    this.leads = true;
    return Promise.resolve(true);
  }

  confirm(): Promise<boolean> {
    return Promise.resolve(this.isLeader);
  }

  /** Nothing can take it away, so nobody is ever told. */
  onLost(): () => void {
    return () => undefined;
  }

  release(): Promise<void> {
    this.leads = false;
    this.registry.leave(this);
    return Promise.resolve();
  }

  async transaction<T>(
    work: (executor: SqlExecutor) => Promise<T>,
    options: LeaderTransactionOptions = {},
  ): Promise<T> {
    checkDeadline(options);
    if (!this.isLeader) throw new NotLeaderError(this.name);
    return this.transactions.transaction(work, options);
  }
}
