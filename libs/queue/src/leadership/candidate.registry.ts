import { DuplicateCandidateError } from '../errors/duplicate-candidate.error.js';
import { InvalidCandidateError } from '../errors/invalid-candidate.error.js';
import { LeadershipClosedError } from '../errors/leadership-closed.error.js';
import type { CandidateOptions } from '../ports/leadership.js';

const MAX_NAME_LENGTH = 200;
const MIN_TICK_MS = 100;
const MAX_TICK_MS = 86_400_000;

/** Registered is what stands in a registry: by its name, and by its key where keys may meet. */
export interface Registered {
  readonly key?: number;
  readonly name: string;
}

/** CandidateRegistry is who stands in this process: one candidate of a name (K107). */
export class CandidateRegistry {
  private isClosed = false;
  private readonly standing = new Set<Registered>();

  get closed(): boolean {
    return this.isClosed;
  }

  get empty(): boolean {
    return this.standing.size === 0;
  }

  /** check throws LeadershipClosedError after `close`, and InvalidCandidateError for a name or a tick that cannot be stood for. */
  check(name: unknown, { tickMs }: CandidateOptions): void {
    if (this.isClosed) throw new LeadershipClosedError();
    const invalid = (problem: string) => new InvalidCandidateError(name, problem);
    if (typeof name !== 'string' || name === '') throw invalid('the name is no text, or empty');
    if (name.length > MAX_NAME_LENGTH) throw invalid(`the name is over ${MAX_NAME_LENGTH} characters`);
    if (/[\p{Cc}\p{Cs}]/u.test(name)) throw invalid('the name has a control character, or half of one of two parts');
    if (!(Number.isFinite(tickMs) && tickMs >= MIN_TICK_MS && tickMs <= MAX_TICK_MS))
      throw invalid(`its tick is ${tickMs} ms and not between ${MIN_TICK_MS} ms and a day`);
  }

  close(): void {
    this.isClosed = true;
    this.standing.clear();
  }

  /** enter adds a candidate, once. Throws DuplicateCandidateError where another stands for its name, or has its key. */
  enter(candidate: Registered): void {
    if (this.standing.has(candidate)) return;
    for (const other of this.standing) {
      const sameKey = candidate.key !== undefined && other.key === candidate.key;
      if (other.name === candidate.name || sameKey) throw new DuplicateCandidateError(candidate.name, other.name);
    }
    this.standing.add(candidate);
  }

  leave(candidate: Registered): void {
    this.standing.delete(candidate);
  }
}
