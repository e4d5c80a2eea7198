import { Injectable } from '@nestjs/common';
import { HandlerMistakesError } from '../errors/handler-mistakes.error.js';
import { DutyRegistry } from './duty.registry.js';
import { LeaderDutyExplorer } from './leader-duty.explorer.js';

/** DutyDiscovery puts the duties that the explorer finds into the registry. */
@Injectable()
export class DutyDiscovery {
  constructor(
    private readonly explorer: LeaderDutyExplorer,
    private readonly registry: DutyRegistry,
  ) {}

  /** register registers every duty. Throws what is wrong: the error itself where it is one thing, HandlerMistakesError with all of them where it is more. */
  register(): void {
    const { entries, mistakes: found } = this.explorer.explore();
    const mistakes = [...found];
    for (const entry of entries) {
      try {
        this.registry.register(entry);
      } catch (error) {
        mistakes.push(error as Error);
      }
    }
    if (mistakes.length > 1) throw new HandlerMistakesError(mistakes);
    if (mistakes[0]) throw mistakes[0];
  }
}
