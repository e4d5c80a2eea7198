/** LossListeners are told each time that leadership is lost. What one of them throws is swallowed: the others are told all the same. */
export class LossListeners {
  private readonly listeners = new Set<{ readonly call: (reason: Error) => void }>();

  /** add answers what takes the listener off again. */
  add(call: (reason: Error) => void): () => void {
    const listener = { call };
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  tell(reason: Error): void {
    for (const { call } of [...this.listeners]) {
      try {
        call(reason);
      } catch {
        // It is theirs.
      }
    }
  }
}
