import { RefusedRequestError } from './refused-request.error.js';

/** NotADefinitionError says that what was enqueued, or given a handler, is no definition: mostly an import that is still undefined. */
export class NotADefinitionError extends RefusedRequestError {
  constructor(
    readonly given: unknown,
    done = 'was enqueued',
  ) {
    super(
      'queue.no_definition',
      `${given === null ? 'null' : `A value of type ${typeof given}`} ${done} in place of a job definition. Where it is undefined, two files import each other: move the definitions to a file of their own.`,
    );
  }
}
