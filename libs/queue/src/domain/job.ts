/** Job is one attempt at a job as its handler sees it. */
export interface Job<Payload = unknown> {
  /** attempt is 1 at the first run. */
  readonly attempt: number;
  readonly createdAt: Date;
  /** dueAt is the moment from which this run was due, by the database's clock. */
  readonly dueAt: Date;
  readonly id: string;
  readonly kind: string;
  /** maxAttempts is null for `'unlimited'`. */
  readonly maxAttempts: number | null;
  readonly payload: Payload;
  readonly priority: number;
  /** tenantId is null for a job of the system. */
  readonly tenantId: string | null;
}
