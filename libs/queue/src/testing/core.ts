/**
 * The testing kit without Nest: to run a handler, to run all that is due, to look at what was enqueued, to look for what a crash does twice.
 * It imports no test framework and works with a PostgreSQL that the test brings. The contract suites of the ports are here too.
 */
export { describeJobStore, type JobStoreContractOptions } from './job-store.contract.js';
export type { ApplicationHarness, InspectedJob, JobStoreHarness } from './job-store.harness.js';
export { MemoryJobStore } from '../memory/memory.job-store.js';

export { crashTest, type CrashRound, type CrashTested, type CrashTestOptions } from './kit/crash-test.js';
export { CrashTestError } from './kit/crash-test.error.js';
export { DrainError } from './kit/drain.error.js';
export { drain, type Drained, type DrainOptions } from './kit/drain.js';
export type { DrainedJob, DrainedResult } from './kit/drained.job.js';
export type { EnqueuedJob } from './kit/enqueued.job.js';
export {
  expectEnqueued,
  type ExpectEnqueuedOptions,
  type PartialOf,
  type PayloadMatcher,
} from './kit/expect-enqueued.js';
export {
  fakeContext,
  type FakeAttachedContext,
  type FakeContextOptions,
  type FakeDetachedContext,
  type FakeRecord,
} from './kit/fake-context.js';
export { KitError } from './kit/kit.errors.js';
export { type EnqueuedFinding, NotEnqueuedError } from './kit/not-enqueued.error.js';
export type { RecordedRequest } from './kit/recorded.queue.js';
export { type HandlerRun, runHandler, type RunHandlerOptions } from './kit/run-handler.js';
export type { NestContext, TestedApplication } from './kit/tested.queue.js';
