import { HoldfastError } from '@holdfast/kernel/pure';

/** NoHandlersError says that a process is to run jobs and has no handler for any, so that it would look healthy and do nothing. */
export class NoHandlersError extends HoldfastError {
  constructor(
    readonly found: readonly string[],
    /** unprovided are classes that are marked and that no module lists. */
    readonly unprovided: readonly string[] = [],
  ) {
    super(
      'queue.no_handlers',
      `This process has the role run and nothing to run: ${reasonOf(found, unprovided)}. Add a handler, or give it the roles ['enqueue'].`,
    );
  }
}

function reasonOf(found: readonly string[], unprovided: readonly string[]): string {
  if (found.length > 0) return `run.only and run.except leave out all of ${found.join(', ')}`;
  const marked = unprovided.filter((name) => name.includes('@JobHandler'));
  return marked.length === 0
    ? 'no provider is marked with @JobHandler'
    : `no module lists under its providers ${marked.join(', ')}`;
}
