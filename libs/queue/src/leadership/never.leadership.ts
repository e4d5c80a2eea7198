import { type Candidate, type CandidateOptions, Leadership } from '../ports/leadership.js';
import { CandidateRegistry } from './candidate.registry.js';
import { NeverCandidate } from './never.candidate.js';

/** NeverLeadership lets nobody lead: for a process that must not, and for tests of those who wait. */
export class NeverLeadership extends Leadership {
  readonly connections = {};
  private readonly registry = new CandidateRegistry();

  candidate(name: string, options: CandidateOptions): Candidate {
    this.registry.check(name, options);
    const candidate = new NeverCandidate(name, this.registry);
    this.registry.enter(candidate);
    return candidate;
  }

  close(): Promise<void> {
    this.registry.close();
    return Promise.resolve();
  }
}
