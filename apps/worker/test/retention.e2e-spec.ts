import { retentionSweep } from '@holdfast/contracts';
import type { JobStatus } from '@holdfast/queue/core';
import { createTestDatabase, waitFor, type TestDatabase } from '@holdfast/testing';
import { SWEEP_BATCH } from '../src/retention/sweep-events.sql.js';
import { HubProcesses } from './hub.processes.js';
import { HubQueue } from './hub.queue.js';
import type { HubTenant } from './hub.tenant.js';

const SOON_MS = 60_000;

describe('retention.sweep', () => {
  let database: TestDatabase;
  let hub: HubProcesses;
  let queue: HubQueue;

  beforeAll(async () => {
    database = await createTestDatabase();
    hub = await HubProcesses.on(database);
    await hub.startApi();
    queue = new HubQueue(database, hub.databaseUrl);
  });

  afterEach(() => hub.stopWorkers());

  afterAll(async () => {
    await queue.close();
    await hub.stop();
    await database.drop();
  });

  /** aged gives a tenant events of an age in days, each with a job that has been done and its delivery. */
  async function aged(tenant: HubTenant, name: string, n: number, days: number): Promise<void> {
    await database.adminQuery(
      `WITH job AS (
         INSERT INTO holdfast.job (kind, tenant_id, payload, state, finished_at)
         SELECT 'webhook.deliver', $1, '{}', 2, now() FROM generate_series(1, $3::int) RETURNING id
       ), event AS (
         INSERT INTO event (tenant_id, id, type, payload, jobs, received_at)
         SELECT $1, $2 || '-' || n, 'push', '{}', '[]', now() - make_interval(days => $4::int) FROM generate_series(1, $3::int) AS n
       )
       INSERT INTO delivery (tenant_id, event_id, subscription_id, job_id)
       SELECT $1, $2 || '-' || row_number() OVER (), 'gone', id FROM job`,
      [tenant.id, name, n, days],
    );
  }

  async function left(tenant: HubTenant): Promise<Record<string, number>> {
    const [counts] = await database.adminQuery<Record<string, number>>(
      `SELECT (SELECT count(*)::int FROM event WHERE tenant_id = $1) AS events,
         (SELECT count(*)::int FROM delivery WHERE tenant_id = $1) AS deliveries,
         (SELECT count(*)::int FROM holdfast.job WHERE tenant_id = $1 AND kind <> 'retention.sweep') AS jobs`,
      [tenant.id],
    );
    return counts!;
  }

  /** pollers answers the tenant's sweeps that are not at their end, running ones first. */
  function pollers(tenant: HubTenant): Promise<{ attempt: number; id: string; state: number; waits: boolean }[]> {
    return database.adminQuery(
      `SELECT id, attempt, state, due_at > now() + interval '50 minutes' AS waits FROM holdfast.job
       WHERE kind = 'retention.sweep' AND tenant_id = $1 AND state < 2 ORDER BY state DESC, id`,
      [tenant.id],
    );
  }

  const waits = ({ dueAt, outcome }: JobStatus) =>
    outcome === 'retention.swept' && dueAt.getTime() > Date.now() + SOON_MS;
  const sweep = (tenant: HubTenant) => queue.enqueue(tenant.id, retentionSweep());

  /** rest waits until every request has been met and the poller waits for the next hour. */
  async function rest(tenant: HubTenant): Promise<void> {
    const resting = async () => {
      const requests = await database.adminQuery(
        "SELECT FROM holdfast.job_request WHERE kind = 'retention.sweep' AND tenant_id = $1",
        [tenant.id],
      );
      return requests.length === 0 && (await pollers(tenant)).every((poller) => poller.waits);
    };
    await waitFor(resting, { deadlineMs: 30_000, what: 'the poller to wait for the next hour' });
  }

  /** locked keeps a delivery of an event locked, so that a sweep waits in the middle; it answers what lets it go on. */
  async function locked(tenant: HubTenant, eventId: string): Promise<() => Promise<unknown>> {
    const locker = await database.client();
    await locker.query('BEGIN');
    const text = 'SELECT 1 FROM delivery WHERE tenant_id = $1 AND event_id = $2 FOR UPDATE';
    await locker.query(text, [tenant.id, eventId]);
    return () => locker.query('COMMIT');
  }

  async function inTheMiddle(): Promise<boolean> {
    const rows = await database.adminQuery(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%DELETE FROM delivery%'",
    );
    return rows.length > 0;
  }

  it('H5: begins with the tenant; a worker sweeps at once and looks again in an hour, in the same row', async () => {
    const tenant = await hub.tenant();
    const [begun] = await pollers(tenant);
    await hub.startWorker();
    await queue.until(begun!.id, 'waiting for the next hour', waits);
    expect(await pollers(tenant)).toEqual([{ attempt: 0, id: begun!.id, state: 0, waits: true }]);
  });

  it("removes the tenant's old events with their deliveries, batch after batch; young ones, other tenants' and all jobs stay", async () => {
    const [tenant, other] = [await hub.tenant(), await hub.tenant()];
    await aged(tenant, 'old', 2 * SWEEP_BATCH + 1, 31);
    await aged(tenant, 'young', 3, 29);
    await aged(other, 'old', 2, 29);
    await database.adminQuery('UPDATE tenant SET retention_days = 3650 WHERE id = $1', [other.id]);
    await aged(other, 'older', 2, 400);
    await hub.startWorker();
    for (const each of [tenant, other]) await rest(each);
    expect(await left(tenant)).toEqual({ deliveries: 3, events: 3, jobs: 2 * SWEEP_BATCH + 4 });
    expect(await left(other)).toEqual({ deliveries: 4, events: 4, jobs: 4 });
  });

  it('Q5: is one per tenant, however often and from wherever it is asked for', async () => {
    const tenant = await hub.tenant();
    await Promise.all([hub.startWorker(), hub.startWorker()]);
    await Promise.all(Array.from({ length: 20 }, () => sweep(tenant)));
    await rest(tenant);
    expect(await pollers(tenant)).toHaveLength(1);
  });

  it('R1, Q12: a worker killed in the middle has removed nothing, and the next one goes on with the same job', async () => {
    const tenant = await hub.tenant();
    await aged(tenant, 'old', 5, 31);
    const release = await locked(tenant, 'old-3');
    const worker = await hub.startWorker();
    await waitFor(inTheMiddle, { what: 'the sweep to be in the middle' });
    const [running] = await pollers(tenant);
    await worker.kill();
    await release();
    await waitFor(
      async () => !(await database.backends()).some(({ query }) => query.includes('DELETE FROM delivery')),
      {
        what: 'the transaction of the killed worker to be gone',
      },
    );
    expect(await left(tenant)).toMatchObject({ deliveries: 5, events: 5 });

    await hub.startWorker();
    await queue.until(running!.id, 'waiting for the next hour', waits);
    expect(await left(tenant)).toEqual({ deliveries: 0, events: 0, jobs: 5 });
    expect(await pollers(tenant)).toEqual([{ attempt: 0, id: running!.id, state: 0, waits: true }]);
  }, 90_000);

  it('R11: a retention that is shortened in the middle of a sweep leads to another one, which is due at once', async () => {
    const tenant = await hub.tenant();
    await aged(tenant, 'old', 1, 31);
    await aged(tenant, 'younger', 2, 8);
    const release = await locked(tenant, 'old-1');
    await hub.startWorker();
    await waitFor(inTheMiddle, { what: 'the sweep to be in the middle' });
    const change = await hub.operator.request('PATCH', `/tenants/${tenant.id}`, { retentionDays: 7 });
    expect(change.status).toBe(200);
    await release();
    await waitFor(async () => (await left(tenant)).events === 0, { what: 'the second sweep' });
    await rest(tenant);
    expect(await pollers(tenant)).toHaveLength(1);
  });

  it('does not wait for an event that somebody holds, and takes it the next time', async () => {
    const tenant = await hub.tenant();
    await hub.startWorker();
    await rest(tenant);
    await aged(tenant, 'old', 2, 31);
    const holder = await database.client();
    await holder.query('BEGIN');
    await holder.query("SELECT 1 FROM event WHERE tenant_id = $1 AND id = 'old-2' FOR KEY SHARE", [tenant.id]);
    await sweep(tenant);
    await waitFor(async () => (await left(tenant)).events === 1, { what: 'the other one to be removed' });
    await holder.query('COMMIT');
    await sweep(tenant);
    await waitFor(async () => (await left(tenant)).events === 0, { what: 'both to be removed' });
  });

  it('ends, refused, when its tenant is gone', async () => {
    const tenant = await hub.tenant();
    await database.adminQuery('DELETE FROM tenant WHERE id = $1', [tenant.id]);
    const [poller] = await pollers(tenant);
    await hub.startWorker();
    const job = await queue.until(poller!.id, 'refused', ({ state }) => state === 'FAILED');
    expect(job.errorCode).toBe('retention.tenant_gone');
  });
});
