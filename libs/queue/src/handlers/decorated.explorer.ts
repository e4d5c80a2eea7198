import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { type DecoratedClass, decoratedClasses } from './decorated.classes.js';
import { classesOf } from './nest.provider.js';

/** DecoratedExplorer finds the classes that carry a decorator of ours and that no module of this application provides. */
@Injectable()
export class DecoratedExplorer {
  constructor(private readonly discovery: DiscoveryService) {}

  /** unprovided answers them; a class that another one extends is provided with it. */
  unprovided(): DecoratedClass[] {
    const provided = new Set<unknown>();
    for (const provider of [...this.discovery.getProviders(), ...this.discovery.getControllers()]) {
      for (const candidate of classesOf(provider)) {
        for (let owner: unknown = candidate; typeof owner === 'function'; owner = Object.getPrototypeOf(owner))
          provided.add(owner);
      }
    }
    return decoratedClasses().filter(({ target }) => !provided.has(target));
  }
}
