import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import {
  createEmptyDatabase,
  createTestDatabase,
  type SpawnedProcess,
  spawnTs,
  type TestDatabase,
  waitFor,
} from '@holdfast/testing';
import { untilState } from '../module/probe.js';

const CHILD = 'libs/queue/test/health/worker.child.ts';

describe('runWorker, as a process', () => {
  let db: TestDatabase;

  beforeAll(async () => (db = await createTestDatabase()));
  afterAll(() => db.drop());

  const spawn = (env: Record<string, string> = {}) =>
    spawnTs(CHILD, { env: { DATABASE_URL: db.url, HEALTH_PORT: '0', ...env } });
  const portOf = async (child: SpawnedProcess) => ((await child.event('started')) as unknown as { port: number }).port;
  const ask = async (port: number, path: 'live' | 'ready') => {
    const response = await fetch(`http://127.0.0.1:${port}/health/${path}`);
    return {
      body: (await response.json()) as { details?: Record<string, { status: string }>; status: string },
      http: response.status,
    };
  };
  const enqueue = async () => {
    const [row] = await db.adminQuery<{ id: string }>(
      `INSERT INTO holdfast.job (kind, payload) VALUES ('worker.wait', '{}') RETURNING id::text`,
    );
    return row!.id;
  };
  const gone = () => waitFor(async () => (await db.backends()).length === 0, { what: 'the connections to be closed' });

  it('H1: serves live and ready, each indicator under its own key', async () => {
    const child = spawn();
    const port = await portOf(child);
    expect(await ask(port, 'live')).toEqual({ body: { status: 'ok' }, http: 200 });
    const { body, http } = await ask(port, 'ready');
    expect([http, body.status]).toEqual([200, 'ok']);
    expect(Object.keys(body.details!)).toEqual(expect.arrayContaining(['database', 'migrations', 'own', 'runner']));
    child.signal('SIGTERM');
    expect(await child.exit()).toEqual({ code: 0, signal: null });
    expect(child.events).toContainEqual({ event: 'hooks', signal: 'SIGTERM' });
    await gone();
  });

  it('M1: serves /metrics on the health port, from the registry that it is given', async () => {
    const child = spawn();
    const port = await portOf(child);
    const response = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(await response.text()).toContain('holdfast_jobs_finished_total{kind="worker.wait",result="succeeded"} 0');
    child.signal('SIGTERM');
    expect(await child.exit()).toEqual({ code: 0, signal: null });
  });

  it('H1, R17, K56: while it drains live is 200 and ready 503 until the running job has ended; two signals at once are one; then it ends with 0', async () => {
    const child = spawn();
    const port = await portOf(child);
    const id = await enqueue();
    await child.event('running');
    child.signal('SIGINT');
    child.signal('SIGINT');
    await waitFor(async () => (await ask(port, 'ready')).http === 503, { what: 'it to drain' });
    expect((await ask(port, 'ready')).body).toEqual({ status: 'draining' });
    expect((await ask(port, 'live')).http).toBe(200);
    child.send({ word: 'finish' });
    expect(await child.exit()).toEqual({ code: 0, signal: null });
    await untilState(db, id, 'SUCCEEDED');
    await gone();
  });

  it('K56: a second signal, a second later, ends it at once, with 128 and its number', async () => {
    const child = spawn();
    await portOf(child);
    await enqueue();
    await child.event('running');
    let ended = false;
    const exit = child.exit().finally(() => (ended = true));
    child.signal('SIGTERM');
    await waitFor(
      () => {
        if (!ended) child.signal('SIGTERM');
        return ended;
      },
      { what: 'the worker to end' },
    );
    expect(await exit).toEqual({ code: 143, signal: null });
    expect(child.lines.join('\n')).toContain('the worker ends at once');
    await gone();
    await db.adminQuery('TRUNCATE holdfast.job');
  });

  it('H1: while the application starts live is 200 and ready 503', async () => {
    const port = await freePort();
    const child = spawn({ HEALTH_PORT: String(port), SLOW: 'factory' });
    await child.event('starting');
    expect(await ask(port, 'live')).toMatchObject({ http: 200 });
    expect(await ask(port, 'ready')).toEqual({ body: { status: 'starting' }, http: 503 });
    child.send({ word: 'start' });
    await child.event('started');
    expect(await ask(port, 'ready')).toMatchObject({ http: 200 });
    await child.stop();
    await gone();
  });

  it.each(['factory', 'init', 'bootstrap'])(
    'K118: a signal while it starts (%s) ends it in good order once it could: no job has begun',
    async (phase) => {
      const child = spawn({ SLOW: phase });
      await child.event('starting');
      const id = await enqueue();
      child.signal('SIGTERM');
      await child.line('SIGTERM: the worker ends');
      child.send({ word: 'start' });
      expect(await child.exit()).toEqual({ code: 0, signal: null });
      expect(child.events.map(({ event }) => event)).not.toContain('running');
      await untilState(db, id, 'PENDING');
      await gone();
      await db.adminQuery('TRUNCATE holdfast.job');
    },
  );

  it.each(['factory', 'init', 'bootstrap'])(
    'K118: a start that never ends (%s) is waited for as long as startGrace says; then it ends with 1, and says why',
    async (phase) => {
      const child = spawn({ SLOW: phase, START_GRACE: '500ms' });
      await child.event('starting');
      child.signal('SIGTERM');
      expect(await child.exit()).toEqual({ code: 1, signal: null });
      expect(child.lines.join('\n')).toContain('The start had not ended 500 ms after it was told to stop');
      await gone();
    },
  );

  it('K118: a start that waits for the database when the signal comes ends in good order when it is answered', async () => {
    const blocker = await db.client();
    await blocker.query('BEGIN; LOCK TABLE holdfast.job_request, holdfast.job');
    const child = spawn({ SEED: 'yes' });
    await waitFor(
      () =>
        db
          .adminQuery("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()")
          .then((rows) => rows.length > 0),
      { what: 'the seeding to wait' },
    );
    child.signal('SIGTERM');
    await child.line('SIGTERM: the worker ends');
    await blocker.query('COMMIT');
    expect(await child.exit()).toEqual({ code: 0, signal: null });
    const events = child.events.map(({ event }) => event);
    expect(events).toContain('hooks');
    expect(events).not.toContain('running');
    await blocker.end();
    await gone();
    await db.adminQuery('TRUNCATE holdfast.job');
  });

  it('H1: a port that is taken is said before anything is opened, and ends it with 1', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const child = spawn({ HEALTH_PORT: String(port), SLOW: 'factory' });
    expect(await child.exit()).toEqual({ code: 1, signal: null });
    expect(child.lines.join('\n')).toContain(`The health port ${port} on 127.0.0.1 cannot be used: it is taken`);
    expect(child.events).toEqual([]);
    other.close();
  });

  it('H1: an application that cannot start ends it with 1, and leaves nothing open', async () => {
    const empty = await createEmptyDatabase();
    const child = spawn({ DATABASE_URL: empty.url });
    expect(await child.exit()).toEqual({ code: 1, signal: null });
    expect(child.lines.join('\n')).toContain('0001');
    await empty.drop();
  });

  it('H1: checks of its own that cannot be made end it with 1, after everything was closed', async () => {
    const child = spawn({ BROKEN: 'yes' });
    expect(await child.exit()).toEqual({ code: 1, signal: null });
    expect(child.lines.join('\n')).toContain('There is no such check.');
    expect(child.events.map(({ event }) => event)).toEqual(['hooks']);
    await gone();
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
