/** Explored is what an explorer found: data to register, and every mistake that it saw on the way. */
export interface Explored<Entry> {
  readonly entries: readonly Entry[];
  readonly mistakes: readonly Error[];
}
