import { UnavailableError } from '@holdfast/kernel/pure';

/**
 * NewerPayloadError says that a payload was written by a newer deployment than this one: the job is deferred, so that a process that
 * knows the version runs it, and no attempt is spent.
 */
export class NewerPayloadError extends UnavailableError {
  constructor(
    readonly kind: string,
    readonly stored: number,
    readonly known: number,
  ) {
    super('queue.payload_newer', {
      message: `A payload of ${kind} has version ${stored}, this process knows ${known}: it waits for a process of the newer deployment.`,
    });
  }
}
