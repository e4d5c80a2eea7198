import type { SqlExecutor } from '@holdfast/kernel';
import { NotLeaderError } from '../errors/not-leader.error.js';
import type { Candidate, LeaderTransactionOptions } from '../ports/leadership.js';
import type { CandidateRegistry } from './candidate.registry.js';
import { checkDeadline } from './deadline.check.js';

/** NeverCandidate waits for good. */
export class NeverCandidate implements Candidate {
  readonly beliefLeftMs = 0;
  readonly isLeader = false;

  constructor(
    readonly name: string,
    private readonly registry: CandidateRegistry,
  ) {}

  acquire(): Promise<boolean> {
    return Promise.resolve(false);
  }

  confirm(): Promise<boolean> {
    return Promise.resolve(false);
  }

  onLost(): () => void {
    return () => undefined;
  }

  release(): Promise<void> {
    this.registry.leave(this);
    return Promise.resolve();
  }

  async transaction<T>(
    _work: (executor: SqlExecutor) => Promise<T>,
    options: LeaderTransactionOptions = {},
  ): Promise<T> {
    checkDeadline(options);
    return Promise.reject(new NotLeaderError(this.name));
  }
}
