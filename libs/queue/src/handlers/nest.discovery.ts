import { Injectable } from '@nestjs/common';
import { refuse, registered } from './explored.js';
import { JobHandlerExplorer } from './job-handler.explorer.js';
import { JobHandlerRegistry } from './job-handler.registry.js';
import { JobInterceptorExplorer } from './job-interceptor.explorer.js';
import { JobInterceptorRegistry } from './job-interceptor.registry.js';
import { ListenerDiscovery } from './listener.discovery.js';
import { UnprovidedClasses } from './unprovided.classes.js';

/** HandlerDiscovery puts what the explorers find into the registries: the way from the decorators to what runs. */
@Injectable()
export class HandlerDiscovery {
  constructor(
    private readonly handlers: JobHandlerExplorer,
    private readonly interceptors: JobInterceptorExplorer,
    private readonly listeners: ListenerDiscovery,
    private readonly registry: JobHandlerRegistry,
    private readonly interceptorRegistry: JobInterceptorRegistry,
    private readonly classes: UnprovidedClasses,
  ) {}

  /**
   * register registers everything, and again without effect. Throws what is wrong: the error itself where it is one thing, HandlerMistakesError
   * with all of them where it is more. A marked class that no module provides is a warning, which the runner tells at its start.
   */
  register(): void {
    refuse([
      ...registered(this.handlers.explore(), (entry) => this.registry.register(entry)),
      ...registered(this.interceptors.explore(), (entry) => this.interceptorRegistry.register(entry)),
      ...this.listeners.register(),
    ]);
    this.classes.warn(this.unprovided(), this.registry.warnings);
  }

  /** unprovided names the marked classes that no module provides; of handlers those whose kind no other one handles. */
  unprovided(): string[] {
    return this.classes.names(({ isDuty, kind }) => !isDuty && (kind === undefined || !this.registry.find(kind)));
  }
}
