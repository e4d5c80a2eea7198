import { HoldfastError } from '@holdfast/kernel/pure';

/** NoHandlersError says that a process is to run jobs and has no handler for any, so that it would look healthy and do nothing. */
export class NoHandlersError extends HoldfastError {
  constructor(readonly found: readonly string[]) {
    const none =
      found.length === 0
        ? 'no provider is marked with @JobHandler'
        : `run.only and run.except leave out all of ${found.join(', ')}`;
    super(
      'queue.no_handlers',
      `This process has the role run and nothing to run: ${none}. Add a handler, or give it the roles ['enqueue'].`,
    );
  }
}
