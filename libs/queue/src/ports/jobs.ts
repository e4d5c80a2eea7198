import type { JobStatus } from '../domain/job.status.js';

/** Jobs is the port for people and routes: it reads jobs, never their payloads (A1). */
export abstract class Jobs {
  /**
   * find answers a job by its id, or by the id that an enqueue answered with `requested`; undefined when there is none, also for a text that is no id.
   *
   * It reads what is committed, on a connection of its own.
   */
  abstract find(id: string): Promise<JobStatus | undefined>;
}
