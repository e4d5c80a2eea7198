import { Injectable } from '@nestjs/common';
import { registered } from './explored.js';
import { JobEventDispatcher } from './job-event.dispatcher.js';
import { JobEventExplorer } from './job-event.explorer.js';

/** ListenerDiscovery puts the listeners that the explorer finds where events are told: in a process that runs jobs, and in one that schedules alone. */
@Injectable()
export class ListenerDiscovery {
  constructor(
    private readonly explorer: JobEventExplorer,
    private readonly dispatcher: JobEventDispatcher,
  ) {}

  /** register registers them, and again without effect. It answers every mistake. */
  register(): readonly Error[] {
    return registered(this.explorer.explore(), (entry) => this.dispatcher.register(entry));
  }
}
