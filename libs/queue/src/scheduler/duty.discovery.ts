import { Injectable } from '@nestjs/common';
import { refuse, registered } from '../handlers/explored.js';
import { ListenerDiscovery } from '../handlers/listener.discovery.js';
import { UnprovidedClasses } from '../handlers/unprovided.classes.js';
import { DutyRegistry } from './duty.registry.js';
import { LeaderDutyExplorer } from './leader-duty.explorer.js';

/** DutyDiscovery puts the duties that the explorer finds into the registry, and the listeners where they hear of them: the process may run no jobs. */
@Injectable()
export class DutyDiscovery {
  constructor(
    private readonly classes: UnprovidedClasses,
    private readonly explorer: LeaderDutyExplorer,
    private readonly listeners: ListenerDiscovery,
    private readonly registry: DutyRegistry,
  ) {}

  /** register registers everything, and again without effect; a marked class that no module provides is a warning. Throws what is wrong: the error itself where it is one thing, HandlerMistakesError with all of them where it is more. */
  register(): void {
    const duties = registered(this.explorer.explore(), (entry) => this.registry.register(entry));
    refuse([...duties, ...this.listeners.register()]);
    const { classes, registry } = this;
    classes.warn(
      classes.names(({ isDuty }) => isDuty === true),
      registry.warnings,
    );
  }
}
