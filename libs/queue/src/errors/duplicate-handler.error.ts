import { HoldfastError } from '@holdfast/kernel/pure';

/** DuplicateHandlerError says that two handlers were found for one kind. */
export class DuplicateHandlerError extends HoldfastError {
  constructor(
    readonly kind: string,
    readonly sources: readonly string[],
  ) {
    super(
      'queue.duplicate_handler',
      `The kind ${kind} has two handlers, ${named(sources)}: keep one, or give one of them a kind of its own.`,
    );
  }
}

function named(sources: readonly string[]): string {
  const [first = ''] = sources;
  if (sources.some((source) => source !== first)) return sources.join(' and ');
  const module = first.endsWith(')') ? ', whose module was made twice with other options' : '';
  return `both from ${first}${module}`;
}
