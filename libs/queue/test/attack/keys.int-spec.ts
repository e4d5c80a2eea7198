import 'reflect-metadata';
import type { Client } from 'pg';
import { ControlConnections, executorOf } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase, waitFor } from '@holdfast/testing';
import type { EncodedRequest, Enqueued } from '../../src/domain/request.js';
import { PostgresJobs } from '../../src/postgres/postgres.jobs.js';
import type { PostgresJobStore } from '../../src/postgres/postgres.job-store.js';
import { failure, order, request } from '../../src/testing/job-store.harness.js';
import { postgresStore, SCHEMA } from '../store.harness.js';

const JOB = SCHEMA.of('job');
const LOCKS_PER_TRANSACTION = 16;

describe('keys under attack', () => {
  let database: TestDatabase;
  let store: PostgresJobStore;
  let jobs: PostgresJobs;
  let connections: ControlConnections;

  beforeEach(async () => {
    database = await createTestDatabase();
    store = postgresStore(database);
    connections = new ControlConnections(
      { connectionString: database.url },
      { applicationName: 'jobs', deadlineMs: 5_000, max: 1 },
    );
    jobs = new PostgresJobs(connections, SCHEMA);
  });
  afterEach(async () => {
    await store.close();
    await connections.close();
    await database.drop();
  });

  const enqueue = (client: Client, changes: Partial<EncodedRequest> = {}): Promise<Enqueued> =>
    store.enqueue(request({ dedupeKey: 'k', ...changes }), executorOf(client));
  const begin = async (isolation = 'READ COMMITTED', settings = `SET lock_timeout = '1s'`): Promise<Client> => {
    const client = await database.client();
    await client.query(settings);
    await client.query(`BEGIN ISOLATION LEVEL ${isolation}`);
    await client.query('SELECT 1');
    return client;
  };
  const keyLocks = async (): Promise<number> =>
    (
      await database.adminQuery(
        `SELECT FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      )
    ).length;
  const takeIn = async () => {
    while ((await store.intake(1_000)).more);
  };

  it('Q4, A1: an answer leads to its job through all the requests into which it was folded', async () => {
    await store.enqueueNow([request({ dedupeKey: 'k', whenRunning: 'rerun' })]);
    const [run] = await store.claim(order());
    const callers = [await begin('SERIALIZABLE'), await begin('SERIALIZABLE'), await begin('SERIALIZABLE')];
    const answers: Enqueued[] = [];
    for (const caller of callers) answers.push(await enqueue(caller, { whenRunning: 'rerun' }));
    // The youngest is taken in first, so that each is folded into one that commits after it.
    for (const caller of [...callers].reverse()) {
      await caller.query('COMMIT');
      await takeIn();
    }
    for (const { id } of answers) expect(await jobs.find(id)).toMatchObject({ id: answers[0]!.id, state: 'PENDING' });
    await store.settle([{ lease: run!.lease, settlement: { delayMs: 0, outcome: null, verb: 'repeat' } }]);
    await takeIn();
    for (const { id } of answers) expect(await jobs.find(id)).toMatchObject({ id: run!.id, state: 'PENDING' });
  });

  it('Q4: a job that somebody makes live by hand meanwhile is no unique violation of the caller, and covers it', async () => {
    await store.enqueueNow([request({ dedupeKey: 'k' })]);
    const [dead] = await store.claim(order());
    await store.settle([{ lease: dead!.lease, settlement: { failure: failure(), verb: 'bury' } }]);
    const operator = await begin();
    await operator.query(`UPDATE ${JOB} SET state = 0, attempt = 0, finished_at = NULL WHERE id = ${dead!.id}`);
    const caller = await begin('READ COMMITTED', 'SET lock_timeout = 0');
    const answer = enqueue(caller);
    await waitFor(async () => (await database.adminQuery(`SELECT FROM pg_locks WHERE NOT granted`)).length > 0, {
      what: 'the caller to meet the row',
    });
    await operator.query('COMMIT');
    expect((await answer).disposition).toBe('requested');
    await caller.query('COMMIT');
    await takeIn();
    expect(await jobs.find((await answer).id)).toMatchObject({ id: dead!.id, state: 'PENDING' });
  });

  it('Q1, Q4: what a savepoint took is given back with it: the job, its lock, and the count of locks', async () => {
    const caller = await begin();
    for (let i = 0; i < 3 * LOCKS_PER_TRANSACTION; i += 1) {
      await caller.query('SAVEPOINT s');
      expect(await enqueue(caller, { dedupeKey: `back ${i}` })).toMatchObject({ disposition: 'created' });
      await caller.query('ROLLBACK TO SAVEPOINT s');
    }
    expect(await keyLocks()).toBe(0);
    const kept: string[] = [];
    for (let i = 0; i < LOCKS_PER_TRANSACTION + 4; i += 1) {
      await caller.query('SAVEPOINT s');
      kept.push((await enqueue(caller, { dedupeKey: `kept ${i}` })).disposition);
      await caller.query('RELEASE SAVEPOINT s');
    }
    expect(kept.filter((disposition) => disposition === 'created')).toHaveLength(LOCKS_PER_TRANSACTION);
    await caller.query('COMMIT');
    await takeIn();
    expect(await store.depth([])).toMatchObject([{ due: LOCKS_PER_TRANSACTION + 4 }]);
  });

  it('Q4, Q8: thousands of keys in one transaction take a handful of locks, and become as many jobs', async () => {
    const caller = await begin();
    const requests = Array.from({ length: 3_000 }, (_, i) => request({ dedupeKey: `many ${i}` }));
    await store.enqueueMany(requests, executorOf(caller));
    expect(await keyLocks()).toBe(LOCKS_PER_TRANSACTION);
    await caller.query('COMMIT');
    await takeIn();
    expect(await store.depth([])).toMatchObject([{ due: 3_000 }]);
  });

  it('Q4: keys whose locks are one are told apart: tenants and keys that look alike', async () => {
    const alike: Partial<EncodedRequest>[] = [
      { dedupeKey: 'c', tenantId: 'a\u001fb' },
      { dedupeKey: 'b\u001fc', tenantId: 'a' },
      { dedupeKey: 'b:c', tenantId: 'a' },
      { dedupeKey: 'c', tenantId: 'a:b' },
      { dedupeKey: 'k ' },
      { dedupeKey: 'k' },
      { dedupeKey: '\u00e9' },
      { dedupeKey: 'e\u0301' },
      { dedupeKey: `'; DROP TABLE x; --` },
      { dedupeKey: 'k', kind: `contract."job'` },
    ];
    const ids = new Set<string>();
    for (const isolation of ['READ COMMITTED', 'SERIALIZABLE']) {
      const callers = [await begin(isolation), await begin(isolation)];
      for (const [i, changes] of alike.entries()) ids.add((await enqueue(callers[i % 2]!, changes)).id);
      for (const caller of callers) await caller.query('COMMIT');
      await takeIn();
    }
    const found = await Promise.all([...ids].map(async (id) => (await jobs.find(id))!.id));
    expect(new Set(found).size).toBe(alike.length);
    const { rows } = await (await database.client()).query(`SELECT FROM ${JOB}`);
    expect(rows).toHaveLength(alike.length);
  });

  it('Q7: a caller waits for nobody who holds rows of jobs or of requests', async () => {
    await store.enqueueNow([request({ dedupeKey: 'k', dueInMs: 60_000 })]);
    const serializable = await begin('SERIALIZABLE');
    await enqueue(serializable, { dedupeKey: 'waiting' });
    await serializable.query('COMMIT');
    const holder = await begin();
    await holder.query(`SELECT FROM ${JOB} FOR UPDATE`);
    await holder.query(`SELECT FROM ${SCHEMA.of('job_request')} FOR UPDATE`);
    for (const isolation of ['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'])
      for (const dedupeKey of ['k', 'waiting', 'new']) {
        const caller = await begin(isolation);
        await enqueue(caller, { dedupeKey });
        await caller.query('COMMIT');
      }
  });

  it('Q4: a prepared transaction keeps its key until it is committed, and nobody waits for it', async () => {
    const [{ on } = { on: false }] = await database.adminQuery<{ on: boolean }>(
      `SELECT current_setting('max_prepared_transactions')::int > 0 AS on`,
    );
    const first = await begin();
    await enqueue(first);
    if (on) await first.query(`PREPARE TRANSACTION 'holdfast-attack'`);
    const second = await begin();
    const answer = await enqueue(second);
    expect(answer.disposition).toBe('requested');
    await second.query('COMMIT');
    await takeIn();
    expect(await store.claim(order())).toEqual([]);
    await first.query(on ? `COMMIT PREPARED 'holdfast-attack'` : 'COMMIT');
    await takeIn();
    expect(await store.claim(order())).toHaveLength(1);
  });

  it('Q4: SERIALIZABLE callers whose own work has no conflict meet none: neither with each other nor with intake, claim and end', async () => {
    await database.adminQuery('CREATE TABLE mine (caller int, n int)');
    const callers = await Promise.all(Array.from({ length: 8 }, () => begin('SERIALIZABLE')));
    for (const [i, caller] of callers.entries()) {
      await caller.query('CREATE TEMP TABLE own (n int)');
      await caller.query('INSERT INTO own VALUES (1)');
      await enqueue(caller, { dedupeKey: `k${i % 2}` });
      if (i % 2 === 0) {
        await takeIn();
        for (const job of await store.claim(order()))
          await store.settle([{ lease: job.lease, settlement: { outcome: null, verb: 'complete' } }]);
      }
      await enqueue(caller, { dedupeKey: `k${(i + 1) % 2}` });
    }
    for (const caller of callers) await caller.query('COMMIT');
    await takeIn();
    expect(await store.depth([])).toMatchObject([{ due: 2 }]);
  });
});
