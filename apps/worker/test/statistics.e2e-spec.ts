import { createTestDatabase, waitFor, type TestDatabase } from '@holdfast/testing';
import { HubProcesses } from './hub.processes.js';
import type { HubTenant } from './hub.tenant.js';

const KIND = 'event.record';

describe('event.record', () => {
  let database: TestDatabase;
  let hub: HubProcesses;
  let tenant: HubTenant;

  beforeAll(async () => {
    database = await createTestDatabase();
    hub = await HubProcesses.on(database);
    await hub.startApi();
    tenant = await hub.tenant();
  });

  afterAll(async () => {
    await hub.stop();
    await database.drop();
  });

  function post(repository: string, n: number): Promise<string> {
    return tenant.post(
      { id: `${repository.replace('/', '-')}-${n}`, payload: { repository: { full_name: repository } }, type: 'push' },
      KIND,
    );
  }

  const statistics = (repository: string) => tenant.request('GET', `/repositories/${repository}/statistics`);

  async function counted(repository: string): Promise<number> {
    const text = 'SELECT events FROM repository_statistics WHERE repository = $1';
    const [row] = await database.adminQuery<{ events: string }>(text, [repository]);
    return Number(row?.events ?? 0);
  }

  it('shows its effect through the api: nothing before the worker has ever run, the counts afterwards', async () => {
    const id = await post('octo/seen', 0);
    const nothing = { body: { status: 404, title: 'Not found' }, status: 404 };
    const before = await statistics('octo/seen');
    expect(before).toMatchObject(nothing);
    expect(before.type).toContain('application/problem+json');

    const worker = await hub.startWorker();
    const job = await tenant.jobUntil(id, 'done', ({ state }) => state === 'SUCCEEDED');
    expect(job.outcome).toBe('event.counted');
    expect(await statistics('octo/seen')).toMatchObject({
      body: { repository: 'octo/seen', types: [{ type: 'push', events: 1, lastEventId: 'octo-seen-0' }] },
      status: 200,
    });
    for (const repository of ['octo/other', 'octo/%00', 'octo/a%2Fb'])
      expect(await statistics(repository)).toMatchObject(nothing);
    await worker.stop();
  });

  it('R1: counts each event once when many of one repository run at once', async () => {
    const worker = await hub.startWorker();
    const ids = await Promise.all(Array.from({ length: 40 }, (_, n) => post('octo/busy', n)));
    for (const id of ids) await tenant.jobUntil(id, 'done', ({ state }) => state === 'SUCCEEDED');
    expect(await counted('octo/busy')).toBe(40);
    const [row] = await database.adminQuery<{ last: boolean }>(
      `SELECT last_event_at = (SELECT max(received_at) FROM event WHERE repository = 'octo/busy') AS last
       FROM repository_statistics WHERE repository = 'octo/busy'`,
    );
    expect(row?.last).toBe(true);
    await worker.stop();
  });

  it('R1: a worker killed inside the transaction leaves no count, and the next one counts once', async () => {
    let worker = await hub.startWorker();
    await tenant.jobUntil(await post('octo/killed', 0), 'done', ({ state }) => state === 'SUCCEEDED');
    // The row is locked, so that the handler waits inside its transaction.
    const locker = await database.client();
    await locker.query('BEGIN');
    await locker.query("SELECT 1 FROM repository_statistics WHERE repository = 'octo/killed' FOR UPDATE");
    const id = await post('octo/killed', 1);
    const waiting = () =>
      database
        .backends()
        .then((all) =>
          all.some(({ query, state }) => state === 'active' && query.includes('INSERT INTO repository_statistics')),
        );
    await waitFor(waiting, { what: 'the handler to be inside its transaction' });
    await worker.kill();
    await locker.query('COMMIT');
    const gone = async () => !(await waiting());
    await waitFor(gone, { what: 'the transaction of the killed worker to be gone' });
    expect(await counted('octo/killed')).toBe(1);
    expect(await tenant.job(id)).toMatchObject({ attempts: 1, state: 'RUNNING' });

    worker = await hub.startWorker();
    const job = await tenant.jobUntil(id, 'done', ({ state }) => state === 'SUCCEEDED');
    expect(job.attempts).toBe(2);
    expect(await counted('octo/killed')).toBe(2);
    await worker.stop();
  });
});
