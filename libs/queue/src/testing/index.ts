/** The testing kit of a NestJS application; without Nest: `@holdfast/queue/testing/core`. */
export * from './core.js';
export { QueueTestingModule, type TestingBuilder } from './kit/queue-testing.module.js';
export type { QueueTestingOptions } from './kit/test.settings.js';
