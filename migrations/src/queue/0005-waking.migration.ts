import type { Migration } from '@holdfast/kernel';
import { dropWakeConsumers, wakeConsumers } from './functions/wake-consumers.function.js';

/** The triggers by which a commit wakes idle consumers. */
export const waking: Migration = {
  id: '0005-waking',
  part: 'queue',
  written: '2026-11-30T00:00:04Z',
  down: (schema) => dropWakeConsumers(schema),
  up: (schema) => wakeConsumers(schema),
};
