import 'reflect-metadata';
import { EventEntity, HUB_TABLES } from '@holdfast/hub';
import { UnitOfWork } from '@holdfast/queue';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { DataSource } from 'typeorm';
import { startApi } from '../src/start-api.js';
import { ApiClient } from './api.client.js';
import { OPERATOR_TOKEN } from './api.process.js';

/** What tenant `a` has when tenant `b` comes along. */
interface World {
  readonly a: ApiClient;
  readonly anyone: ApiClient;
  readonly b: ApiClient;
  readonly eventId: string;
  readonly jobIds: readonly string[];
  readonly operator: ApiClient;
  readonly subscriptionId: string;
}

const SUBSCRIPTION = { eventTypes: ['*'], url: 'https://a.example/hook' };
const EVENT = { id: 'of-a', payload: { secret: 'of a' }, repository: 'octo/hello', type: 'push' };

let app: NestExpressApplication;
let database: TestDatabase;
let world: World;

async function hidden(path: string): Promise<void> {
  expect((await world.a.get(path)).status).toBe(200);
  const answer = await world.b.get(path);
  expect(answer.status).toBe(404);
  expect(JSON.stringify(answer.body)).not.toMatch(/of a|octo|a\.example/);
}

/** unchanged sees to it that what `b` does is answered 404 and leaves every row of `a` as it was. */
async function unchanged(act: () => Promise<{ status: number }>): Promise<void> {
  const before = await rowsOfA();
  expect((await act()).status).toBe(404);
  expect(await rowsOfA()).toEqual(before);
}

async function rowsOfA(): Promise<unknown[]> {
  const rows: unknown[] = [];
  for (const table of HUB_TABLES)
    rows.push(
      await database.adminQuery(`SELECT * FROM ${table} WHERE ${table === 'tenant' ? 'id' : 'tenant_id'} = 'a'`),
    );
  return rows;
}

/** operatorsAlone sees to it that no tenant's key opens an operator's route, its own tenant's included. */
async function operatorsAlone(method: string, path: string, body?: unknown): Promise<void> {
  const before = await rowsOfA();
  for (const client of [world.a, world.b]) expect((await client.send(method, path, body)).status).toBe(401);
  expect(await rowsOfA()).toEqual(before);
}

/** Every route of the api, and what keeps one tenant's part of it from another. */
const ROUTES: Readonly<Record<string, () => Promise<void>>> = {
  'DELETE /subscriptions/:id': () => unchanged(() => world.b.delete(`/subscriptions/${world.subscriptionId}`)),
  'DELETE /tenants/:id/keys/:keyId': async () => {
    const { body } = await world.operator.get('/tenants/a/keys');
    const [key] = body.keys as { id: string }[];
    await operatorsAlone('DELETE', `/tenants/a/keys/${key!.id}`);
    // A key of another tenant's is no key of this one.
    expect((await world.operator.delete(`/tenants/b/keys/${key!.id}`)).status).toBe(404);
    expect((await world.a.get('/subscriptions')).status).toBe(200);
  },
  'GET /events/:id': () => hidden(`/events/${world.eventId}`),
  'GET /events/:id/deliveries': () => hidden(`/events/${world.eventId}/deliveries`),
  'GET /health/live': async () => expect((await world.anyone.get('/health/live')).body).toEqual({ status: 'ok' }),
  'GET /health/ready': async () => {
    const { body } = await world.anyone.get('/health/ready');
    expect(body).toMatchObject({ details: { database: { status: 'up' }, migrations: { status: 'up' } }, status: 'ok' });
  },
  'GET /jobs/:id': async () => {
    for (const id of world.jobIds) await hidden(`/jobs/${id}`);
  },
  'GET /repositories/:owner/:name/statistics': () => hidden('/repositories/octo/hello/statistics'),
  'GET /subscriptions': async () => {
    expect((await world.a.get('/subscriptions')).body.subscriptions).toHaveLength(1);
    expect((await world.b.get('/subscriptions')).body).toEqual({ next: null, subscriptions: [] });
  },
  'GET /subscriptions/:id': () => hidden(`/subscriptions/${world.subscriptionId}`),
  'GET /tenants/:id': () => operatorsAlone('GET', '/tenants/a'),
  'GET /tenants/:id/keys': () => operatorsAlone('GET', '/tenants/a/keys'),
  'PATCH /subscriptions/:id': () =>
    unchanged(() =>
      world.b.patch(`/subscriptions/${world.subscriptionId}`, { paused: true, url: 'https://b.example/' }),
    ),
  'PATCH /tenants/:id': () => operatorsAlone('PATCH', '/tenants/a', { name: 'Mine' }),
  'POST /events': async () => {
    const before = await rowsOfA();
    const answer = await world.b.post('/events', { ...EVENT, payload: { of: 'b' } });
    // The same id is another event, which none of the subscriptions of `a` gets.
    expect(answer).toMatchObject({ body: { jobs: [{ kind: 'event.record' }] }, status: 202 });
    expect((await world.b.get(`/events/${EVENT.id}`)).body.payload).toEqual({ of: 'b' });
    expect(await rowsOfA()).toEqual(before);
  },
  'POST /subscriptions': async () => {
    const { body } = await world.b.post('/subscriptions', { ...SUBSCRIPTION, eventTypes: ['only.b'] });
    expect((await world.a.get(`/subscriptions/${String(body.id)}`)).status).toBe(404);
    const accepted = await world.a.post('/events', { payload: {}, type: 'only.b' });
    expect(JSON.stringify(accepted.body)).not.toContain(body.id);
    await world.b.delete(`/subscriptions/${String(body.id)}`);
  },
  'POST /subscriptions/:id/secret': () =>
    unchanged(() => world.b.post(`/subscriptions/${world.subscriptionId}/secret`, { overlap: '0s' })),
  'POST /tenants': () => operatorsAlone('POST', '/tenants', { id: 'mine', name: 'Mine' }),
  'POST /tenants/:id/keys': () => operatorsAlone('POST', '/tenants/a/keys'),
};

const OPEN = ['GET /health/live', 'GET /health/ready'];

interface Layer {
  readonly route?: { readonly methods: Readonly<Record<string, boolean>>; readonly path: string };
}

function routesOf(application: NestExpressApplication): string[] {
  const { router } = application.getHttpAdapter().getInstance() as { router: { stack: readonly Layer[] } };
  return router.stack.flatMap(({ route }) =>
    route ? Object.keys(route.methods).map((method) => `${method.toUpperCase()} ${route.path}`) : [],
  );
}

async function tenant(operator: ApiClient, id: string): Promise<ApiClient> {
  const { body } = await operator.post('/tenants', { id, name: id });
  return new ApiClient(operator.url, String(body.apiKey));
}

beforeAll(async () => {
  database = await createTestDatabase();
  const { url: DATABASE_URL } = await database.createRole({ owner: true });
  app = await startApi({ DATABASE_URL, LOG_LEVEL: 'error', OPERATOR_TOKEN, PORT: '0' });
  const url = await app.getUrl();
  const operator = new ApiClient(url, OPERATOR_TOKEN);
  const [a, b] = [await tenant(operator, 'a'), await tenant(operator, 'b')];
  const subscription = await a.post('/subscriptions', SUBSCRIPTION);
  const { body } = await a.post('/events', EVENT);
  await database.adminQuery(`INSERT INTO repository_statistics VALUES ('a', 'octo/hello', 'push', 1, 'of-a', now())`);
  world = {
    a,
    anyone: new ApiClient(url, ''),
    b,
    eventId: EVENT.id,
    jobIds: (body.jobs as { id: string }[]).map(({ id }) => id),
    operator,
    subscriptionId: String(subscription.body.id),
  };
});

afterAll(async () => {
  await app.close();
  await database.drop();
});

describe('T1: one tenant sees nothing of another’s', () => {
  it('through any route: the list below is that of the router', () => {
    expect(routesOf(app).sort()).toEqual(Object.keys(ROUTES).sort());
  });

  it.each(Object.entries(ROUTES))('%s', async (_, proof) => {
    expect.hasAssertions();
    await proof();
  });

  it.each(HUB_TABLES)('in a unit of work, as handlers have it: table %s', async (table) => {
    const column = table === 'tenant' ? 'id' : 'tenant_id';
    const seenUnder = (tenantId: string | null) =>
      app.get(UnitOfWork).run(
        async ({ sql }) => {
          const { rows } = await sql.query<{ tenant: string }>(`SELECT DISTINCT ${column} AS tenant FROM ${table}`);
          return rows.map((row) => row.tenant);
        },
        { tenantId },
      );
    expect(await seenUnder('a')).toEqual(['a']);
    expect((await seenUnder('b')).filter((tenant) => tenant !== 'b')).toEqual([]);
    expect(await seenUnder(null)).toEqual([]);
  });

  it('T2: a query outside any unit of work sees nothing, and the tenant cannot be changed inside one', async () => {
    expect(await app.get(DataSource).getRepository(EventEntity).find()).toEqual([]);
    const unitOfWork = app.get(UnitOfWork);
    const nested = unitOfWork.run(() => unitOfWork.run(async () => 'never', { tenantId: 'b' }), { tenantId: 'a' });
    await expect(nested).rejects.toMatchObject({ code: 'kernel.nested_scope' });
  });

  it('T3: the jobs of a tenant carry it, and the queue’s tables have no row level security', async () => {
    const jobs = await database.adminQuery<{ kind: string; tenant_id: string }>(
      'SELECT kind, tenant_id FROM holdfast.job WHERE id = ANY($1) ORDER BY kind',
      [world.jobIds],
    );
    expect(jobs).toEqual([
      { kind: 'event.record', tenant_id: 'a' },
      { kind: 'webhook.deliver', tenant_id: 'a' },
    ]);
    const secured = await database.adminQuery(
      `SELECT relname FROM pg_class WHERE relnamespace = 'holdfast'::regnamespace AND relrowsecurity`,
    );
    expect(secured).toEqual([]);
  });
});

describe('H5: who is let in', () => {
  const closed = Object.keys(ROUTES).filter((route) => !OPEN.includes(route));
  const address = (route: string) => {
    const [method, path] = route.split(' ') as [string, string];
    const body = ['PATCH', 'POST'].includes(method) ? {} : undefined;
    return { body, method, path: path.replace(':owner', 'octo').replace(':name', 'hello').replace(/:\w+/g, 'a') };
  };

  it.each(closed)('nobody without a key, or with what is none: %s', async (route) => {
    const { body, method, path } = address(route);
    for (const key of ['', 'hfk_short', `hfk_${'x'.repeat(43)}`, `${OPERATOR_TOKEN}x`]) {
      const answer = await new ApiClient(world.a.url, key).send(method, path, body);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    }
  });

  it.each(closed.filter((route) => !route.includes('/tenants')))(
    'not the operator, who is no tenant: %s',
    async (route) => {
      const { body, method, path } = address(route);
      expect((await world.operator.send(method, path, body)).status).toBe(401);
    },
  );

  it('X-Api-Key does as well as a bearer token', async () => {
    const response = await fetch(`${world.a.url}/subscriptions`, { headers: { 'X-Api-Key': world.a.key } });
    expect(response.status).toBe(200);
    await response.body?.cancel();
  });

  it('no key is stored, only its hash', async () => {
    const rows = await database.adminQuery<{ text: string }>('SELECT to_json(k)::text AS text FROM api_key k');
    expect(rows).toHaveLength(2);
    for (const { text } of rows) expect(text).not.toContain('hfk_');
  });
});
