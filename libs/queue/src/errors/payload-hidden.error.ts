import { HoldfastError } from '@holdfast/kernel/pure';

/** PayloadHiddenError says that payloads are shown to nobody here, because no hook says what of them may be seen (A1). */
export class PayloadHiddenError extends HoldfastError {
  constructor() {
    super(
      'queue.payload_hidden',
      'Payloads are not shown: the option redactPayload is not set. Give (job, payload) => what of it may be seen; (_job, payload) => payload shows all.',
    );
  }
}
