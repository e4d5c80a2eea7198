import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createEmptyDatabase, freePort, spawnTs, TcpProxy, waitFor, type TestDatabase } from '@holdfast/testing';
import { ApiProcess } from './api.process.js';

describe('the api as a process', () => {
  let database: TestDatabase;
  let databaseUrl: string;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    databaseUrl = (await database.createRole({ owner: true })).url;
  });

  afterAll(async () => {
    await database.drop();
  });

  it('reports every problem of its configuration together, without a value, and ends with 1', async () => {
    const child = spawnTs('apps/api/src/main.ts', {
      env: {
        DATABASE_URL: 'mysql://me:secret-word@localhost/hub',
        MIGRATIONS: 'perhaps',
        OPERATOR_TOKEN: 'short',
        PORT: 'x',
      },
    });
    expect(await child.exit()).toEqual({ code: 1, signal: null });
    const text = child.lines.join('\n');
    expect(text).toMatch(/4 problems/);
    for (const variable of ['DATABASE_URL', 'MIGRATIONS', 'OPERATOR_TOKEN', 'PORT'])
      expect(text).toContain(`- ${variable}: `);
    expect(text).not.toContain('secret-word');
  });

  it('says that the database cannot be reached, without the password, and ends with 1', async () => {
    const url = `postgres://me:secret-word@127.0.0.1:${await freePort()}/hub`;
    const child = spawnTs('apps/api/src/main.ts', { env: { DATABASE_URL: url, PORT: '0' } });
    expect(await child.exit()).toEqual({ code: 1, signal: null });
    expect(child.lines.join('\n')).toMatch(/DATABASE_URL: this database cannot be used: .*ECONNREFUSED/);
    expect(child.lines.join('\n')).not.toContain('secret-word');
  });

  it('says which port is taken, and ends with 1', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const child = spawnTs('apps/api/src/main.ts', {
      env: { DATABASE_URL: databaseUrl, HOST: '127.0.0.1', PORT: String(port) },
    });
    expect(await child.exit()).toEqual({ code: 1, signal: null });
    expect(child.lines.join('\n')).toContain(`PORT: ${port} on 127.0.0.1 is taken`);
    other.close();
  });

  it('K66: several start at once on an empty database, and with MIGRATIONS=check afterwards', async () => {
    const env = { DATABASE_URL: databaseUrl };
    const apis = await Promise.all([ApiProcess.start(env), ApiProcess.start(env), ApiProcess.start(env)]);
    apis.push(await ApiProcess.start({ ...env, MIGRATIONS: 'check' }));
    for (const api of apis) expect((await api.anyone.get('/health/ready')).status).toBe(200);
    await Promise.all(apis.map((api) => api.process.stop()));
  });

  it('refuses to start with MIGRATIONS=check on a database without its tables', async () => {
    const empty = await createEmptyDatabase();
    const { url } = await empty.createRole({ owner: true });
    const child = spawnTs('apps/api/src/main.ts', { env: { DATABASE_URL: url, MIGRATIONS: 'check', PORT: '0' } });
    expect(await child.exit()).toEqual({ code: 1, signal: null });
    expect(child.lines.join('\n')).toContain('MIGRATIONS=up');
    await empty.drop();
  });

  it('T1: refuses to start as a superuser, with the remedy and without the password', async () => {
    const child = spawnTs('apps/api/src/main.ts', { env: { DATABASE_URL: database.url, PORT: '0' } });
    expect(await child.exit()).toEqual({ code: 1, signal: null });
    const text = child.lines.join('\n');
    expect(text).toMatch(/DATABASE_URL: the role \S+ is a superuser, so that row level security does not hold for it/);
    expect(text).toContain('CREATE ROLE hub LOGIN');
    expect(text).not.toContain(new URL(database.url).password);
  });

  it('ends with 0 on SIGTERM and closes its connections', async () => {
    const api = await ApiProcess.start({ DATABASE_URL: databaseUrl });
    expect(await api.process.stop()).toEqual({ code: 0, signal: null });
    await waitFor(async () => (await database.backends()).length === 0, { what: 'the connections to be closed' });
  });

  it('answers 503 while the database is away, loses nothing it accepted, and recovers by itself', async () => {
    const proxy = await TcpProxy.open(databaseUrl);
    const api = await ApiProcess.start({ DATABASE_URL: proxy.url });
    try {
      const tenant = await api.tenant('away');
      expect((await tenant.post('/events', { id: 'before', payload: {}, type: 'push' })).status).toBe(202);
      proxy.refuse();
      proxy.sever();
      expect((await api.anyone.get('/health/live')).status).toBe(200);
      await waitFor(async () => (await api.anyone.get('/health/ready')).status === 503, {
        what: 'the api not to be ready',
      });
      expect((await api.anyone.get('/health/ready')).body).toMatchObject({
        error: { database: { message: expect.stringContaining('database') as string, status: 'down' } },
        status: 'error',
      });
      const refused = await tenant.post('/events', { id: 'during', payload: {}, type: 'push' });
      expect(refused).toMatchObject({ body: { status: 503 }, status: 503 });
      expect(refused.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      proxy.pass();
      await waitFor(async () => (await api.anyone.get('/health/ready')).status === 200, {
        what: 'the api to be ready again',
      });
      expect((await tenant.post('/events', { id: 'after', payload: {}, type: 'push' })).status).toBe(202);
      const rows = await database.adminQuery<{ id: string }>(
        "SELECT id FROM event WHERE id IN ('before', 'during', 'after') ORDER BY id",
      );
      expect(rows.map((row) => row.id)).toEqual(['after', 'before']);
    } finally {
      await api.process.stop();
      await proxy.close();
    }
  });
});
