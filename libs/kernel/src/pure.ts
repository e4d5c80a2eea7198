/**
 * The rooms of the kernel that know no database: errors, retry, time. `@holdfast/kernel/pure` is for files that are loaded where none is
 * wanted, such as definitions of jobs; everything here is also exported by `@holdfast/kernel`.
 */
export * from './errors/classified.errors.js';
export * from './errors/error-chain.js';
export * from './errors/error-code.js';
export * from './errors/holdfast.error.js';
export * from './errors/invalid-duration.error.js';
export * from './retry/backoff.js';
export * from './retry/outage-delay.js';
export * from './time/deadline.js';
export * from './time/duration.js';
export type { IsolationLevel } from './transaction/transaction.js';
