/** For tests of adapters and of applications: the contract suites that every implementation of a port passes. */
export { describeJobStore, type JobStoreContractOptions } from './job-store.contract.js';
export type { ApplicationHarness, InspectedJob, JobStoreHarness } from './job-store.harness.js';
export { MemoryJobStore } from '../memory/memory.job-store.js';
