import { type Candidate, type CandidateOptions, Leadership } from '../ports/leadership.js';
import { AlwaysCandidate, type LeaderTransactions } from './always.candidate.js';
import { CandidateRegistry } from './candidate.registry.js';

/**
 * AlwaysLeadership makes everybody who stands the leader, without asking a server: for a single process, development and tests. Two processes would both
 * lead. Its transactions are those that it is given.
 */
export class AlwaysLeadership extends Leadership {
  readonly connections = {};
  private readonly registry = new CandidateRegistry();

  constructor(private readonly transactions: LeaderTransactions) {
    super();
  }

  candidate(name: string, options: CandidateOptions): Candidate {
    this.registry.check(name, options);
    const candidate = new AlwaysCandidate(name, options.tickMs, this.transactions, this.registry);
    this.registry.enter(candidate);
    return candidate;
  }

  close(): Promise<void> {
    this.registry.close();
    return Promise.resolve();
  }
}
