import { TransactionSettledError } from '../errors/transaction-settled.error.js';

type Callback = () => void | Promise<void>;

/** AfterCommit keeps what is to be called once a transaction has committed. */
export class AfterCommit {
  private callbacks: Callback[] = [];
  private closed = false;

  add(callback: Callback): void {
    if (this.closed) throw new TransactionSettledError();
    this.callbacks.push(callback);
  }

  close(): void {
    this.closed = true;
  }

  /** run calls each callback in order, without waiting for its promise: they can undo nothing, and must not hold up whoever committed. */
  run(): void {
    const callbacks = this.callbacks;
    this.callbacks = [];
    for (const callback of callbacks) void call(callback);
  }
}

async function call(callback: Callback): Promise<void> {
  try {
    await callback();
  } catch (error) {
    const detail = error instanceof Error ? error.stack : undefined;
    process.emitWarning('An afterCommit callback failed. The transaction has committed.', {
      code: 'HOLDFAST_AFTER_COMMIT',
      detail,
    });
  }
}
