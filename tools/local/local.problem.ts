/** LocalProblem is a reason not to start, or to stop, that is told without a stack: it says what to do. */
export class LocalProblem extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LocalProblem';
  }
}
