import { randomUUID } from 'node:crypto';
import { ControlConnections } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import type { Lease } from '../../src/domain/lease.js';
import { PostgresHousekeeping } from '../../src/postgres/postgres.housekeeping.js';
import type { PostgresJobStore } from '../../src/postgres/postgres.job-store.js';
import { postgresStore, SCHEMA } from '../store.harness.js';

const KIND = 'swept.job';
const JOB = SCHEMA.of('job');
const LEASE_MS = 600_000;
const COUNT = 200;

describe('retention among others at the same rows', () => {
  let db: TestDatabase;
  let store: PostgresJobStore;
  let connections: ControlConnections;
  let housekeeping: PostgresHousekeeping;

  beforeEach(async () => {
    db = await createTestDatabase();
    store = postgresStore(db);
    connections = new ControlConnections(
      { connectionString: db.url },
      { applicationName: 'housekeeping', deadlineMs: 20_000, max: 3 },
    );
    housekeeping = new PostgresHousekeeping(connections, SCHEMA);
  });
  afterEach(async () => {
    await Promise.all([store.close(), connections.close()]);
    await db.drop();
  });

  const parts = <T>(items: readonly T[]) =>
    [0, 1, 2, 3].map((n) => items.slice((n * COUNT) / 4, ((n + 1) * COUNT) / 4));

  it('K132, S5: completions, renewals, requeues and retention of the same 200 jobs meet without a deadlock, and only what is final goes', async () => {
    const sweep = async () => {
      const { removed } = await housekeeping.sweep({
        after: undefined,
        ending: 'succeeded',
        // Shorter than anybody may ask for: the moment of a completion is the moment of its removal.
        keepMs: -60_000,
        kind: KIND,
        limit: 70,
      });
      return removed;
    };
    for (let round = 0; round < 6; round += 1) {
      await db.adminQuery(`INSERT INTO ${JOB} (kind, payload) SELECT $1, '{}' FROM generate_series(1, $2::int)`, [
        KIND,
        COUNT,
      ]);
      const order = { kinds: [{ kind: KIND, leaseMs: LEASE_MS, limit: COUNT }], limit: COUNT };
      const jobs = await store.claim({ ...order, fullLook: true, owner: 'contention', token: randomUUID() });
      const leases: Lease[] = jobs.map(({ lease }) => lease);
      await store.renew(leases, LEASE_MS);
      const requeue = db.adminQuery<{ id: string }>(
        `UPDATE ${JOB} SET state = 0, attempt = 0, finished_at = NULL
           WHERE id = ANY (ARRAY(SELECT id FROM ${JOB} WHERE state = 2 AND id % 7 = 0 ORDER BY id FOR UPDATE)) AND state = 2 RETURNING id`,
      );
      const settled = parts(leases).map((part) =>
        store.settle(part.map((lease) => ({ lease, settlement: { outcome: null, verb: 'complete' } }))),
      );
      const renewed = parts([...leases].reverse()).map((part) => store.renew(part, LEASE_MS));
      const swept = Array.from({ length: 8 }, sweep);
      const strays = housekeeping.sweepRunRows(COUNT);
      const held = (await Promise.all(settled)).flat();
      expect(held.every(Boolean)).toBe(true);
      await Promise.all([...renewed, strays]);
      const requeued = (await requeue).length;
      let removed = (await Promise.all(swept)).reduce((sum, count) => sum + count, 0);
      for (let more = await sweep(); more > 0; more = await sweep()) removed += more;
      // Each was removed once, or is pending again.
      expect(removed + requeued).toBe(COUNT);
      const rows = await db.adminQuery<{ state: number }>(`SELECT state FROM ${JOB}`);
      expect(rows.map(({ state }) => state)).toEqual(Array.from({ length: requeued }, () => 0));
      await housekeeping.sweepRunRows(10_000);
      expect(await db.adminQuery(`SELECT FROM ${SCHEMA.of('job_renewal')}`)).toEqual([]);
      await db.adminQuery(`DELETE FROM ${JOB}`);
    }
  });
});
