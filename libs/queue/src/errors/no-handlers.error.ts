import { HoldfastError } from '@holdfast/kernel/pure';

const ROLES =
  "or leave 'run' out of the roles of this process: they stand in the code, else in HOLDFAST_ROLES, else it has all.";

/** NoHandlersError says that a process is to run jobs and has no handler for any, so that it would look healthy and do nothing. */
export class NoHandlersError extends HoldfastError {
  constructor(
    readonly found: readonly string[],
    /** unprovided are classes that are marked and that no module lists. */
    readonly unprovided: readonly string[] = [],
  ) {
    super(
      'queue.no_handlers',
      `This process has the role run and nothing to run: ${reasonOf(found, unprovided)}, ${ROLES}`,
    );
  }
}

function reasonOf(found: readonly string[], unprovided: readonly string[]): string {
  if (found.length > 0)
    return `run.only and run.except leave out every kind that has a handler here: ${found.join(', ')}. Let one of them in`;
  const marked = unprovided.filter((name) => name.includes('@JobHandler'));
  return marked.length === 0
    ? 'no provider is marked with @JobHandler. Mark one'
    : `no module lists ${marked.join(', ')} under its providers. List ${marked.length > 1 ? 'them' : 'it'} there`;
}
