import type { Migration } from '@holdfast/kernel';
import { jobs } from './0001-jobs.migration.js';
import { jobFunctions } from './0002-job-functions.migration.js';
import { duties } from './0003-duties.migration.js';
import { sqlEnqueue } from './0004-sql-enqueue.migration.js';
import { waking } from './0005-waking.migration.js';
import { cancel } from './0006-cancel.migration.js';
import { operators } from './0007-operators.migration.js';
import { progress } from './0008-progress.migration.js';
import { endings } from './0009-endings.migration.js';
import { groupCommit } from './0010-group-commit.migration.js';
import { retention } from './0011-retention.migration.js';

/** queueMigrations make the tables and functions of `@holdfast/queue`, in order. */
export const queueMigrations: readonly Migration[] = [
  jobs,
  jobFunctions,
  duties,
  sqlEnqueue,
  waking,
  cancel,
  operators,
  progress,
  endings,
  groupCommit,
  retention,
];
