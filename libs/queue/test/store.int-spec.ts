import 'reflect-metadata';
import { describeJobStore } from '../src/testing/job-store.contract.js';
import { postgresHarness } from './store.harness.js';

describeJobStore('PostgresJobStore, application on a pool of pg', () => postgresHarness('pg'), { transactions: true });
describeJobStore('PostgresJobStore, application on TypeORM', () => postgresHarness('typeorm'), { transactions: true });
