import { HoldfastError } from '@holdfast/kernel/pure';

/** PoolerError says that a session is needed and that the connection is none: statements reach different backends, as behind a transaction-mode pooler (L4). */
export class PoolerError extends HoldfastError {
  constructor(
    /** seen says how it was found out. */
    readonly seen: string,
  ) {
    super(
      'queue.pooler',
      `Leadership needs a session of its own, and this connection goes through a pooler that shares sessions (${seen}). Set the option directUrl to the server's own address; a pooler in session mode will do as well.`,
    );
  }
}
