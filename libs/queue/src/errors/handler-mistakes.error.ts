import { HoldfastError } from '@holdfast/kernel/pure';

/** HandlerMistakesError says everything that is wrong with the handlers, interceptors and listeners of a process, where it is more than one thing. */
export class HandlerMistakesError extends HoldfastError {
  constructor(readonly mistakes: readonly Error[]) {
    super(
      'queue.handler_mistakes',
      `There are ${mistakes.length} mistakes in what this process runs:\n${mistakes.map(({ message }) => `- ${message}`).join('\n')}`,
    );
  }
}
