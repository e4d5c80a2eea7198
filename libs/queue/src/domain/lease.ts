/** Lease names one attempt: the job and the token of its claim. Every write that ends or reports on the attempt carries both (R2). */
export interface Lease {
  readonly jobId: string;
  readonly token: string;
}
