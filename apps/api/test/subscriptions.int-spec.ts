import 'reflect-metadata';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { startApi } from '../src/start-api.js';
import { ApiClient, type Answer } from './api.client.js';
import { OPERATOR_TOKEN } from './api.process.js';

const URL_OF = { url: 'https://receiver.example/hook' };
const PUSH = { ...URL_OF, eventTypes: ['push'] };

let app: NestExpressApplication;
let database: TestDatabase;
let databaseUrl: string;
let operator: ApiClient;

beforeAll(async () => {
  database = await createTestDatabase();
  databaseUrl = (await database.createRole({ owner: true })).url;
  app = await startApi({ DATABASE_URL: databaseUrl, LOG_LEVEL: 'error', OPERATOR_TOKEN, PORT: '0' });
  operator = new ApiClient(await app.getUrl(), OPERATOR_TOKEN);
});

afterAll(async () => {
  await app.close();
  await database.drop();
});

async function tenant(id: string): Promise<ApiClient> {
  const { body } = await operator.post('/tenants', { id, name: id });
  return new ApiClient(operator.url, String(body.apiKey));
}

function fieldsOf({ body }: Answer): string[] {
  return ((body.errors ?? []) as { field: string }[]).map(({ field }) => field);
}

function subscribersOf({ body }: Answer): unknown[] {
  return (body.jobs as { subscriptionId?: string }[]).flatMap(({ subscriptionId }) => subscriptionId ?? []);
}

describe('H5: tenants, for operators', () => {
  it('a tenant begins with a key and with the poller that sweeps its old events', async () => {
    const { body, status } = await operator.post('/tenants', { id: 'acme', name: 'Acme', retentionDays: 7 });
    expect(status).toBe(201);
    expect(body).toMatchObject({ apiKey: expect.stringMatching(/^hfk_/), id: 'acme', name: 'Acme', retentionDays: 7 });
    const jobs = await database.adminQuery(
      `SELECT kind, dedupe_key, max_attempts FROM holdfast.job WHERE tenant_id = 'acme'`,
    );
    expect(jobs).toEqual([{ dedupe_key: 'sweep', kind: 'retention.sweep', max_attempts: null }]);
    expect((await operator.get('/tenants/acme')).body).toEqual({
      createdAt: expect.any(String),
      id: 'acme',
      name: 'Acme',
      retentionDays: 7,
    });
  });

  it('an id that is taken is refused and nothing of the tenant changes', async () => {
    const first = await tenant('taken');
    const again = await operator.post('/tenants', { id: 'taken', name: 'Other' });
    expect(again.status).toBe(409);
    expect(fieldsOf(again)).toEqual(['id']);
    expect((await operator.get('/tenants/taken')).body.name).toBe('taken');
    expect((await operator.get('/tenants/taken/keys')).body.keys).toHaveLength(1);
    expect((await first.get('/subscriptions')).status).toBe(200);
  });

  it('two at once make one', async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => operator.post('/tenants', { id: 'at-once', name: 'n' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  it('keys are added and revoked, a revoked one opens nothing from then on', async () => {
    const first = await tenant('keys');
    const { body, status } = await operator.post('/tenants/keys/keys');
    expect(status).toBe(201);
    const second = new ApiClient(operator.url, String(body.apiKey));
    expect((await second.get('/subscriptions')).status).toBe(200);
    const listed = await operator.get('/tenants/keys/keys');
    expect(listed.body.keys).toHaveLength(2);
    expect(JSON.stringify(listed.body)).not.toMatch(/hfk_/);

    for (const _ of ['revoked', 'again'])
      expect((await operator.delete(`/tenants/keys/keys/${String(body.keyId)}`)).status).toBe(204);
    expect((await second.get('/subscriptions')).status).toBe(401);
    expect((await first.get('/subscriptions')).status).toBe(200);
    expect((await operator.delete('/tenants/keys/keys/0000000000000000')).status).toBe(404);
    expect((await operator.delete('/tenants/keys/keys/%25')).status).toBe(404);
  });

  it('a key that opens something is listed, however many have been revoked since', async () => {
    await tenant('many-keys');
    await database.adminQuery(
      `INSERT INTO api_key (hash, tenant_id, created_at, revoked_at)
       SELECT lpad(to_hex(n), 64, '0'), 'many-keys', now() + make_interval(secs => n), now() FROM generate_series(1, 120) n`,
    );
    const { body } = await operator.get('/tenants/many-keys/keys');
    const keys = body.keys as { revokedAt: string | null }[];
    expect(keys).toHaveLength(100);
    expect(keys.map(({ revokedAt }) => revokedAt === null)).toEqual([true, ...Array<boolean>(99).fill(false)]);
  });

  it('a tenant is changed', async () => {
    await tenant('changed');
    const { body } = await operator.patch('/tenants/changed', { retentionDays: 365 });
    expect(body).toMatchObject({ name: 'changed', retentionDays: 365 });
    // The sweep that is asked for with it is the one there is: it is due at once again.
    const sweeps = await database.adminQuery(
      `SELECT due_at <= now() AS due FROM holdfast.job WHERE tenant_id = 'changed' AND kind = 'retention.sweep'`,
    );
    expect(sweeps).toEqual([{ due: true }]);
    expect((await operator.patch('/tenants/nobody', { name: 'x' })).status).toBe(404);
    for (const id of ['nobody', '%00', 'A', "'"]) expect((await operator.get(`/tenants/${id}`)).status).toBe(404);
  });

  it.each([
    ['no body', {}, ['id', 'name']],
    ['an id with capitals', { id: 'Acme', name: 'n' }, ['id']],
    ['U+0000', { id: 'nul', name: 'a\0' }, ['name']],
    ['a number of days that is none', { id: 'days', name: 'n', retentionDays: 0.5 }, ['retentionDays']],
    ['an unknown field', { id: 'typo', name: 'n', retention: 1 }, ['retention']],
  ])('a mistake names its field: %s', async (_, body, fields) => {
    const answer = await operator.post('/tenants', body);
    expect(answer.status).toBe(400);
    expect(fieldsOf(answer)).toEqual(fields);
  });

  it('H4: without an OPERATOR_TOKEN the routes are not there', async () => {
    const closed = await startApi({ DATABASE_URL: databaseUrl, LOG_LEVEL: 'error', PORT: '0' });
    const answer = await new ApiClient(await closed.getUrl(), OPERATOR_TOKEN).post('/tenants', { id: 'x', name: 'x' });
    await closed.close();
    expect(answer.status).toBe(404);
  });
});

describe('H5: subscriptions', () => {
  it('the secret is answered at its making alone: generated, or the one that was given', async () => {
    const client = await tenant('secrets');
    const generated = await client.post('/subscriptions', PUSH);
    expect(generated.status).toBe(201);
    expect(generated.body.secret).toMatch(/^whsec_[\w-]{43}$/);
    const path = String(generated.headers.get('location'));
    expect(path).toBe(`/subscriptions/${String(generated.body.id)}`);
    const given = await client.post('/subscriptions', { ...PUSH, secret: 'a-secret-of-mine-that-is-long' });
    expect(given.body.secret).toBe('a-secret-of-mine-that-is-long');

    const later = [
      await client.get(path),
      await client.get('/subscriptions'),
      await client.patch(path, { paused: true }),
      await client.patch(path, { paused: false }),
    ];
    for (const { body, status } of later) {
      expect(status).toBe(200);
      expect(JSON.stringify(body)).not.toMatch(/whsec_|a-secret-of-mine|"secret"|"previousSecret"/);
    }
  });

  it('an event leads to one webhook.deliver for each that matches, and to none for a paused one', async () => {
    const client = await tenant('matching');
    const add = async (...eventTypes: string[]) =>
      String((await client.post('/subscriptions', { ...URL_OF, eventTypes })).body.id);
    const all = await add('*');
    const issues = await add('issues.*', 'push');
    const both = await add('issues.*', 'issues.opened');
    const paused = await add('*');
    await client.patch(`/subscriptions/${paused}`, { paused: true });
    await add('pull_request');

    const accepted = await client.post('/events', { id: 'e', payload: {}, type: 'issues.opened' });
    expect(subscribersOf(accepted)).toEqual([all, both, issues].sort());
    const kinds = await database.adminQuery(
      `SELECT kind, count(*)::int AS jobs FROM holdfast.job WHERE tenant_id = 'matching' GROUP BY kind ORDER BY kind`,
    );
    expect(kinds).toEqual([
      { jobs: 1, kind: 'event.record' },
      { jobs: 1, kind: 'retention.sweep' },
      { jobs: 3, kind: 'webhook.deliver' },
    ]);

    await client.patch(`/subscriptions/${paused}`, { paused: false });
    await client.delete(`/subscriptions/${all}`);
    const next = await client.post('/events', { payload: {}, type: 'push' });
    expect(subscribersOf(next)).toEqual([issues, paused].sort());
    expect((await client.get(`/subscriptions/${all}`)).status).toBe(404);
    // Sent again, it is the first answer: what has been subscribed since changes nothing.
    const again = await client.post('/events', { id: 'e', payload: {}, type: 'issues.opened' });
    expect(again.body).toEqual(accepted.body);
  });

  it('all subscriptions being paused is no reason to refuse an event', async () => {
    const client = await tenant('all-paused');
    const { body } = await client.post('/subscriptions', PUSH);
    await client.patch(`/subscriptions/${String(body.id)}`, { paused: true });
    const accepted = await client.post('/events', { payload: {}, type: 'push' });
    expect(accepted.status).toBe(202);
    expect(subscribersOf(accepted)).toEqual([]);
  });

  it('the deliveries of an event are listed with their jobs, in pages', async () => {
    const client = await tenant('deliveries');
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push(String((await client.post('/subscriptions', PUSH)).body.id));
    ids.sort();
    await client.post('/events', { id: 'e', payload: { n: 1 }, type: 'push' });
    const first = await client.get('/events/e/deliveries?limit=2');
    expect(first.body.deliveries).toEqual(
      ids.slice(0, 2).map((subscriptionId) => ({
        attempts: 0,
        createdAt: expect.any(String),
        deliveredAt: null,
        error: null,
        jobId: expect.stringMatching(/^\d+$/),
        state: 'PENDING',
        status: null,
        subscriptionId,
      })),
    );
    const second = await client.get(`/events/e/deliveries?limit=2&after=${String(first.body.next)}`);
    expect(second.body).toMatchObject({ deliveries: [{ subscriptionId: ids[2] }], next: null });
    const event = await client.get('/events/e');
    expect(event.body).toMatchObject({ id: 'e', payload: { n: 1 }, repository: null, type: 'push' });
    for (const id of ['none', '%00', '-', "'"])
      for (const path of [`/events/${id}`, `/events/${id}/deliveries`])
        expect((await client.get(path)).status).toBe(404);
  });

  it('a rotated secret goes on signing for the overlap, one day unless said otherwise', async () => {
    const client = await tenant('rotation');
    const made = await client.post('/subscriptions', PUSH);
    const path = `/subscriptions/${String(made.body.id)}`;
    const secrets = () =>
      database.adminQuery<{ current: string; hours: number | null; previous: string | null }>(
        `SELECT secret AS current, previous_secret AS previous,
           round(extract(epoch FROM previous_secret_until - now()) / 3600)::int AS hours
         FROM subscription WHERE tenant_id = 'rotation'`,
      );
    const rotated = await client.post(`${path}/secret`);
    expect(rotated.status).toBe(200);
    expect(rotated.body.secret).not.toBe(made.body.secret);
    expect(await secrets()).toEqual([{ current: rotated.body.secret, hours: 24, previous: made.body.secret }]);

    const chosen = await client.post(`${path}/secret`, { overlap: '2h', secret: 'another-secret-of-mine' });
    expect(await secrets()).toEqual([{ current: 'another-secret-of-mine', hours: 2, previous: rotated.body.secret }]);
    expect(chosen.body.previousSecretUntil).toEqual(expect.any(String));

    const atOnce = await client.post(`${path}/secret`, { overlap: '0s' });
    expect(await secrets()).toEqual([{ current: atOnce.body.secret, hours: null, previous: null }]);
    expect(atOnce.body.previousSecretUntil).toBeNull();

    for (const overlap of ['8d', '-1s', 'soon', '', 7])
      expect(fieldsOf(await client.post(`${path}/secret`, { overlap }))).toEqual(['overlap']);
    expect((await client.post(`${path}/secret`, 'overlap=0s', { 'Content-Type': 'text/plain' })).status).toBe(415);
    expect((await client.post('/subscriptions/sub_none/secret')).status).toBe(404);
  });

  it('a rotation to the same secret, sent again, leaves the one before it signing', async () => {
    const client = await tenant('rotated-again');
    const made = await client.post('/subscriptions', PUSH);
    const path = `/subscriptions/${String(made.body.id)}/secret`;
    const first = await client.post(path, { secret: 'the-next-secret-of-mine' });
    expect(await client.post(path, { secret: 'the-next-secret-of-mine' })).toMatchObject({
      body: first.body,
      status: 200,
    });
    const previous = () =>
      database.adminQuery(`SELECT previous_secret FROM subscription WHERE tenant_id = 'rotated-again'`);
    expect(await previous()).toEqual([{ previous_secret: made.body.secret }]);
    await client.post(path, { overlap: '0s', secret: 'the-next-secret-of-mine' });
    expect(await previous()).toEqual([{ previous_secret: null }]);
  });

  it('there are at most a hundred, also when many are made at once', async () => {
    const client = await tenant('many');
    await database.adminQuery(
      `INSERT INTO subscription (id, tenant_id, url, event_types, secret)
       SELECT 'sub_' || lpad(to_hex(n), 24, '0'), 'many', 'https://a.example/', '{push}', 's' FROM generate_series(1, 98) n`,
    );
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => client.post('/subscriptions', PUSH)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409]);
    const accepted = await client.post('/events', { payload: {}, type: 'push' });
    expect(subscribersOf(accepted)).toHaveLength(100);

    const seen: string[] = [];
    for (let after: string | null = ''; after !== null && seen.length < 200;) {
      const { body } = await client.get(`/subscriptions?limit=40${after && `&after=${after}`}`);
      seen.push(...(body.subscriptions as { id: string }[]).map(({ id }) => id));
      after = body.next as string | null;
    }
    expect(seen).toHaveLength(100);
    expect(new Set(seen).size).toBe(100);
    expect(seen).toEqual([...seen].sort());
  });

  it.each([
    ['no body', {}, ['eventTypes', 'url']],
    ['a URL that is none', { ...PUSH, url: 'receiver' }, ['url']],
    ['another protocol', { ...PUSH, url: 'ftp://receiver.example' }, ['url']],
    ['a user in the URL', { ...PUSH, url: 'https://me:word@receiver.example' }, ['url']],
    ['a long URL', { ...PUSH, url: `https://receiver.example/${'x'.repeat(2_000)}` }, ['url']],
    ['no event type', { ...PUSH, eventTypes: [] }, ['eventTypes']],
    ['too many event types', { ...PUSH, eventTypes: Array.from({ length: 51 }, (_, n) => `e${n}`) }, ['eventTypes']],
    ['an event type that is none', { ...PUSH, eventTypes: ['push', 'Issues*'] }, ['eventTypes.1']],
    ['a short secret', { ...PUSH, secret: 'short' }, ['secret']],
    ['a secret with a line break', { ...PUSH, secret: 'a-long-secret\r\nX-Injected: 1' }, ['secret']],
    ['an unknown field', { ...PUSH, paused: true }, ['paused']],
  ])('a mistake names its field, and no value is repeated: %s', async (_, body, fields) => {
    mistakes ??= await tenant('mistakes');
    const answer = await mistakes.post('/subscriptions', body);
    expect(answer.status).toBe(400);
    expect(fieldsOf(answer)).toEqual(fields);
    expect(JSON.stringify(answer.body)).not.toContain('word@');
  });
  let mistakes: ApiClient | undefined;

  it.each([
    ['limit=0', ['limit']],
    ['limit=101', ['limit']],
    ['limit=x', ['limit']],
    ['limit=1&limit=2', ['limit']],
    ['after=%00', ['after']],
    ['after=', ['after']],
    ['page=2', ['page']],
  ])('H4: a page is bounded and its query checked: ?%s', async (query, fields) => {
    pages ??= await tenant('pages');
    for (const path of ['/subscriptions', '/events/e/deliveries']) {
      const answer = await pages.get(`${path}?${query}`);
      expect(answer.status).toBe(400);
      expect(fieldsOf(answer)).toEqual(fields);
    }
  });
  let pages: ApiClient | undefined;

  it('what nobody can have is 404, and a change of nothing is refused', async () => {
    const client = await tenant('nothing');
    for (const id of ['sub_none', '%00', "'", 'sub_000000000000000000000000']) {
      expect((await client.get(`/subscriptions/${id}`)).status).toBe(404);
      expect((await client.delete(`/subscriptions/${id}`)).status).toBe(404);
      expect((await client.patch(`/subscriptions/${id}`, { paused: true })).status).toBe(404);
    }
    const { body } = await client.post('/subscriptions', PUSH);
    const nothing = await client.patch(`/subscriptions/${String(body.id)}`, {});
    expect(nothing.status).toBe(400);
    expect(fieldsOf(nothing)).toEqual(['(body)']);
  });
});
