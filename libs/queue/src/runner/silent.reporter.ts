import { Reporter } from '../ports/reporter.js';

/** SilentReporter says nothing. */
export class SilentReporter extends Reporter {
  override report(): void {
    // Nothing is asked of it.
  }
}
