import { RefusedRequestError } from './refused-request.error.js';

/** NotADefinitionError says that what was enqueued is neither a definition nor a request: mostly an import that is still undefined. */
export class NotADefinitionError extends RefusedRequestError {
  constructor(readonly given: unknown) {
    super(
      'queue.no_definition',
      `${given === null ? 'null' : `A value of type ${typeof given}`} was enqueued in place of a job definition or a request. Where it is undefined, two files import each other: move the definitions to a file of their own.`,
    );
  }
}
