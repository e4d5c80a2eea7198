import { Module } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { QueueLifecycle } from './queue.lifecycle.js';

/** Root modules have distance 1 and modules outside the tree 0: below all of them a module is last to start and first to stop. */
const LOWEST_DISTANCE = Number.MIN_SAFE_INTEGER;

/**
 * QueueEdgeModule is where the queue begins and ends to work: Nest runs hooks by the distance of modules from the root, and this one is put at
 * the lowest before the first hook, so that it comes last at the start and first at the end in any order of imports (R17).
 */
@Module({
  providers: [
    {
      provide: 'holdfast.queue-edge',
      inject: [QueueLifecycle, ModulesContainer],
      useFactory: (lifecycle: QueueLifecycle, modules: ModulesContainer) => {
        for (const module of modules.values()) {
          if (module.metatype === QueueEdgeModule) module.distance = LOWEST_DISTANCE;
        }
        return lifecycle.edge();
      },
    },
  ],
})
export class QueueEdgeModule {}
