import type { Migration } from '@holdfast/kernel';
import { completeGroup, dropCompleteGroup } from './functions/complete-group.function.js';
import { closeFunctions } from './queue.objects.js';

/** The fence of several runs in one transaction. */
export const groupCommit: Migration = {
  id: '0010-group-commit',
  part: 'queue',
  written: '2026-12-01T00:00:10Z',
  down: dropCompleteGroup,
  up: (schema) => [...completeGroup(schema), ...closeFunctions(schema, ['complete_group'])],
};
