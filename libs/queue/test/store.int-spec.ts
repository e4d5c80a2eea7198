import 'reflect-metadata';
import { describeJobStore } from '../src/testing/job-store.contract.js';
import { SqlFaceJobStore } from './sql-face.job-store.js';
import { postgresHarness } from './store.harness.js';

describeJobStore('PostgresJobStore, application on a pool of pg', () => postgresHarness('pg'), { transactions: true });
describeJobStore('PostgresJobStore, application on TypeORM', () => postgresHarness('typeorm'), { transactions: true });
describeJobStore(
  'PostgresJobStore, jobs enqueued by the function enqueue (Q9)',
  () => postgresHarness('pg', SqlFaceJobStore),
  {
    transactions: true,
  },
);
