import { PermanentError } from '@holdfast/kernel/pure';

/** UnreadablePayloadError says that a stored payload no longer decodes or parses: permanent, the job is a dead letter at once (Q3). */
export class UnreadablePayloadError extends PermanentError {
  constructor(
    readonly kind: string,
    readonly path: string,
    readonly reason: string,
    cause?: unknown,
  ) {
    super('queue.payload_invalid', {
      cause,
      message: `A stored payload of ${kind} is not valid any more: ${path} ${reason}. Accept it in the schema, or raise the version and write an upcast, then requeue.`,
    });
  }
}
