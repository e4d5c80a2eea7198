/** Look is why a pass of the claim loop looks for work, and how far. */
export interface Look {
  /** asked: a wake by hand, or the repetition of what failed. */
  readonly asked: boolean;
  /** polled: a poll, or as much as one. Else there was a hint of work: it is claimed first, and looked around only where none is found. */
  readonly polled: boolean;
  /** sweep: it looks for leases that ran out, too. */
  readonly sweep: boolean;
}
