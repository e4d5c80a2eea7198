import { HoldfastError } from './holdfast.error.js';

/** DeafListenerError says that a connection takes LISTEN and hears nothing, as behind a pooler in transaction mode (K105). */
export class DeafListenerError extends HoldfastError {
  constructor(
    /** seen says how it was found out. */
    readonly seen: string,
  ) {
    super(
      'kernel.deaf_listener',
      `This connection cannot listen for notifications: ${seen}. Give an address straight to the server (the option directUrl), ` +
        'or a pooler in session mode; or switch notifications off: then it is polled, which is all that is needed for work to be found.',
    );
  }
}
