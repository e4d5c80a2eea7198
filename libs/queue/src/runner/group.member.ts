import type { Job } from '../domain/job.js';
import type { Run } from './run.js';
import type { RunEnd } from './run.end.js';

/** GroupMember is a run that goes with others: its job, and who waits for its end. */
export interface GroupMember {
  readonly end: (end: RunEnd) => void;
  readonly job: Job<never>;
  readonly run: Run;
}
