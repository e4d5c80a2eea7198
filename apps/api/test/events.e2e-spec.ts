import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import type { ApiClient } from './api.client.js';
import { ApiProcess } from './api.process.js';

const LIMIT = 8_192;

describe('POST /events', () => {
  let api: ApiClient;
  let process: ApiProcess;
  let database: TestDatabase;
  let subscription: Record<string, unknown>;

  beforeAll(async () => {
    database = await createTestDatabase();
    process = await ApiProcess.on(database, { BODY_LIMIT_BYTES: String(LIMIT) });
    api = await process.tenant('events');
    subscription = (await api.post('/subscriptions', { eventTypes: ['*'], url: 'https://receiver.example/hook' })).body;
  });

  afterAll(async () => {
    await process.process.stop();
    await database.drop();
  });

  async function counts(): Promise<{ events: number; jobs: number }> {
    const [row] = await database.adminQuery<{ events: string; jobs: string }>(
      'SELECT (SELECT count(*) FROM event) AS events, (SELECT count(*) FROM holdfast.job) AS jobs',
    );
    return { events: Number(row?.events), jobs: Number(row?.jobs) };
  }

  it('answers 202 once the event and its jobs are stored, and names where to ask', async () => {
    const before = await counts();
    const answer = await api.post('/events', {
      id: 'first',
      payload: { repository: { full_name: 'octo-org/octo-repo' } },
      type: 'push',
    });
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({
      id: 'first',
      jobs: [
        { id: expect.any(String), kind: 'event.record' },
        { id: expect.any(String), kind: 'webhook.deliver', subscriptionId: subscription.id },
      ],
    });
    expect(await counts()).toEqual({ events: before.events + 1, jobs: before.jobs + 2 });

    const job = await api.get(answer.headers.get('location')!);
    expect(job.status).toBe(200);
    expect(job.body).toMatchObject({
      attempts: 0,
      kind: 'event.record',
      outcome: null,
      progress: null,
      refusal: null,
      state: 'PENDING',
    });
    expect(JSON.stringify(job.body)).not.toContain('octo-org');
  });

  it('accepts a delivery that is sent again once, with the same answer, also when they arrive at once', async () => {
    const before = await counts();
    const event = { id: 'again', payload: { action: 'opened' }, type: 'issues' };
    const answers = await Promise.all(Array.from({ length: 16 }, () => api.post('/events', event)));
    answers.push(await api.post('/events', event));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([202]));
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    expect(await counts()).toEqual({ events: before.events + 1, jobs: before.jobs + 2 });
  });

  it('refuses an id that belongs to another event', async () => {
    await api.post('/events', { id: 'taken', payload: { n: 1 }, type: 'push' });
    const before = await counts();
    const answer = await api.post('/events', { id: 'taken', payload: { n: 2 }, type: 'push' });
    expect(answer).toMatchObject({ body: { errors: [{ field: 'id' }], status: 409 }, status: 409 });
    expect(await counts()).toEqual(before);
  });

  it('K88: stores U+0000 and half a surrogate pair as they were sent', async () => {
    const body = '{"id":"odd","type":"push","payload":{"nul\\u0000":"a\\u0000b","half":"\\ud800"}}';
    expect((await api.post('/events', body)).status).toBe(202);
    const [row] = await database.adminQuery<{ text: string }>(
      "SELECT payload::text AS text FROM event WHERE id = 'odd'",
    );
    expect(row?.text).toBe('{"nul\\u0000":"a\\u0000b","half":"\\ud800"}');
  });

  const json = { 'Content-Type': 'application/json' };
  const event = { payload: {}, type: 'push' };
  it.each([
    ['text that is no JSON', 400, '{"type": ', json, undefined],
    ['a number for a body', 400, '7', json, undefined],
    ['a list', 400, '[]', json, '(body)'],
    ['no body', 400, '', json, 'payload, type'],
    ['a missing type', 400, JSON.stringify({ payload: {} }), json, 'type'],
    ['a field of a wrong type', 400, JSON.stringify({ ...event, payload: 'text' }), json, 'payload'],
    ['an unknown field', 400, JSON.stringify({ ...event, typo: true }), json, 'typo'],
    ['U+0000 in an id', 400, JSON.stringify({ ...event, id: 'a\0' }), json, 'id'],
    [
      'nesting without end',
      400,
      `{"type":"push","payload":${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}}`,
      json,
      'payload.a.a.a',
    ],
    ['a number out of range', 400, '{"type":"push","payload":{"n":1e999}}', json, 'payload.n'],
    ['a body over the limit', 413, JSON.stringify({ ...event, payload: { text: 'x'.repeat(LIMIT) } }), json, undefined],
    ['another content type', 415, JSON.stringify(event), { 'Content-Type': 'text/plain' }, undefined],
    [
      'a charset that JSON does not have',
      415,
      JSON.stringify(event),
      { 'Content-Type': 'application/json; charset=utf-99' },
      undefined,
    ],
    ['an unknown content encoding', 415, JSON.stringify(event), { ...json, 'Content-Encoding': 'rot13' }, undefined],
  ])('answers a problem that says what to change: %s', async (_, status, body, headers, field) => {
    const before = await counts();
    const answer = await api.post('/events', body, headers);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(answer.body).toMatchObject({
      detail: expect.any(String),
      status,
      title: expect.any(String),
      type: 'about:blank',
    });
    expect((answer.body.errors as { field: string }[] | undefined)?.map((error) => error.field)).toEqual(
      field?.split(', '),
    );
    expect(await counts()).toEqual(before);
  });

  it.each([
    ['an unknown route', '/nothing/here', 404],
    ['a job that is not there', '/jobs/999999999', 404],
    ['an id that no job can have', '/jobs/99999999999999999999999', 404],
    ['an id that is no number', "/jobs/1'%20OR%201=1", 404],
    ['a path that is not encoded', '/jobs/%E0%A4%A', 400],
  ])('answers a problem for %s', async (_, path, status) => {
    const answer = await api.get(path);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(answer.body).toMatchObject({ status });
  });
});
