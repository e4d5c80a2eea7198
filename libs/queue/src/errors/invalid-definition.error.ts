import { HoldfastError } from '@holdfast/kernel/pure';

/** InvalidDefinitionError lists everything that is wrong with a definition, so that it is mended in one go. */
export class InvalidDefinitionError extends HoldfastError {
  constructor(
    readonly kind: unknown,
    readonly problems: readonly string[],
  ) {
    super(
      'queue.invalid_definition',
      `The job definition ${JSON.stringify(kind) ?? String(kind)} is invalid: ${problems.join('; ')}.`,
    );
  }
}
