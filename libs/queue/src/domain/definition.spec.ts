import { spawnSync } from 'node:child_process';
import { z } from 'zod';
import { InvalidDefinitionError } from '../errors/invalid-definition.error.js';
import { DEFAULT_BACKOFF, defineJob, isJobDefinition, type PayloadInputOf, type PayloadOf } from './definition.js';
import { type } from './payload.schema.js';

const DeliverWebhook = defineJob('webhook.deliver', {
  payload: z.object({ eventId: z.string(), size: z.string().transform(Number) }),
});

function problemsOf(kind: string, options: object): readonly string[] {
  try {
    defineJob(kind, options as never);
  } catch (error) {
    if (error instanceof InvalidDefinitionError) return error.problems;
    throw error;
  }
  return [];
}

describe('defineJob', () => {
  it('gives every option its documented default', () => {
    expect(DeliverWebhook).toMatchObject({
      backoff: DEFAULT_BACKOFF,
      concurrency: null,
      isolation: 'READ COMMITTED',
      kind: 'webhook.deliver',
      maxAttempts: 8,
      maxDeferMs: 86_400_000,
      priority: 5,
      retention: {},
      timeoutMs: 30_000,
      version: 1,
      whenRunning: 'merge',
    });
  });

  it('keeps what was asked for', () => {
    const definition = defineJob('poll', {
      payload: type<{ a: 1 }>(),
      maxAttempts: 'unlimited',
      timeout: '2m',
      backoff: { delays: ['1s'] },
      priority: 0,
    });
    expect(definition).toMatchObject({
      maxAttempts: null,
      timeoutMs: 120_000,
      backoff: { delays: ['1s'] },
      priority: 0,
    });
  });

  it('is frozen, its backoff too', () => {
    expect(Object.isFrozen(DeliverWebhook)).toBe(true);
    expect(Object.isFrozen(DeliverWebhook.backoff)).toBe(true);
  });

  it('reports all mistakes together', () => {
    const problems = problemsOf('Webhook', {
      attempts: 3,
      backoff: { delays: [] },
      classifyError: 'x',
      codec: {},
      concurrency: 0,
      errorDetail: 'all',
      isolation: 'SNAPSHOT',
      maxAttempts: 101,
      maxDefer: 'soon',
      priority: 10,
      retention: { succeeded: '1s' },
      timeout: '0s',
      upcasts: { 1: () => ({}) },
      version: 3,
      whenRunning: 'wait',
    });
    const named = problems.map((problem) => problem.split(' ')[0]).sort();
    expect(named).toEqual(
      [
        'the',
        'attempts',
        'backoff',
        'classifyError',
        'codec',
        'concurrency',
        'errorDetail',
        'isolation',
        'maxAttempts',
        'maxDefer',
        'payload',
        'priority',
        'retention',
        'timeout',
        'upcasts',
        'whenRunning',
      ].sort(),
    );
  });

  it.each(['', 'A', '1a', 'a.', '.a', 'a..b', 'a-b', 'a b', `a${'b'.repeat(100)}`, 'a\n'])(
    'refuses the kind %j',
    (kind) => {
      expect(problemsOf(kind, { payload: type<object>() })).toHaveLength(1);
    },
  );

  it.each(['a', 'webhook.deliver', 'a_1.2b', 'b'.repeat(100)])('takes the kind %j', (kind) => {
    expect(problemsOf(kind, { payload: type<object>() })).toEqual([]);
  });

  it('wants upcasts without a gap up to the version', () => {
    const step = () => ({});
    expect(problemsOf('a', { payload: type<object>(), version: 3, upcasts: { 1: step, 2: step } })).toEqual([]);
    expect(problemsOf('a', { payload: type<object>(), version: 3, upcasts: { 2: step } })).toEqual([]);
    expect(problemsOf('a', { payload: type<object>(), version: 4, upcasts: { 1: step, 3: step } })).toHaveLength(1);
    expect(problemsOf('a', { payload: type<object>(), upcasts: { 1: step } })).toHaveLength(1);
  });

  it.each([
    null,
    8,
    {},
    { size: 0 },
    { size: 33 },
    { size: 1.5 },
    { size: '8' },
    { size: 8, delay: 5 },
    { size: 8, delay: '2s' },
    { size: 8, delay: '-1ms' },
    { size: 8, wait: '5ms' },
  ])('R21: refuses the group commit %j', (groupCommit) => {
    expect(problemsOf('a', { groupCommit, payload: type<object>() })).toEqual([
      expect.stringMatching(/^groupCommit (must|has)/),
    ]);
  });

  it('R21: fills in the delay of a group commit, which is none without being asked for', () => {
    const of = (groupCommit?: { size: number; delay?: string }) =>
      defineJob('a', { groupCommit, payload: type<object>() }).groupCommit;
    expect([of(), of({ size: 1 }), of({ delay: '1s', size: 32 })]).toEqual([
      null,
      { delayMs: 0, size: 1 },
      { delayMs: 1_000, size: 32 },
    ]);
  });

  it('makes requests that are frozen and remember what was asked', () => {
    const request = DeliverWebhook.request({ eventId: 'e', size: '1' }, { runIn: '1m' });
    expect(request).toEqual({
      definition: DeliverWebhook,
      options: { runIn: '1m' },
      payload: { eventId: 'e', size: '1' },
    });
    expect(Object.isFrozen(request) && Object.isFrozen(request.options)).toBe(true);
  });

  it('types payloads end to end', () => {
    const input: PayloadInputOf<typeof DeliverWebhook> = { eventId: 'e', size: '1' };
    const output: PayloadOf<typeof DeliverWebhook> = { eventId: 'e', size: 1 };
    const kind: 'webhook.deliver' = DeliverWebhook.kind;
    // @ts-expect-error -- a handler gets what the schema answers: a number
    const wrongOutput: PayloadOf<typeof DeliverWebhook> = { eventId: 'e', size: '1' };
    // @ts-expect-error -- a producer writes what the schema takes: a string
    DeliverWebhook.request({ eventId: 'e', size: 1 });
    // @ts-expect-error -- the payload lacks a property
    DeliverWebhook.request({ eventId: 'e' });
    // @ts-expect-error -- a job needs a payload
    expect(() => defineJob('a', {})).toThrow(InvalidDefinitionError);
    // @ts-expect-error -- a payload is an object
    type<string>();
    expect([input, output, kind, wrongOutput]).toHaveLength(4);
  });

  it('is told from anything else', () => {
    expect(isJobDefinition(DeliverWebhook)).toBe(true);
    for (const value of [undefined, null, {}, 'webhook.deliver', { kind: 'a' }])
      expect(isJobDefinition(value)).toBe(false);
  });

  it('loads neither a database nor NestJS', () => {
    const script = `require('@holdfast/queue/define'); process.stdout.write(Object.keys(require.cache).join('\\n'));`;
    const loaded = spawnSync(process.execPath, ['-C', '@holdfast/source', '-r', './tools/register.cjs', '-e', script], {
      cwd: `${__dirname}/../../../..`,
      encoding: 'utf8',
    });
    expect(loaded.stderr).toBe('');
    expect(loaded.stdout).toContain('definition.ts');
    expect(loaded.stdout).not.toMatch(/node_modules\/(pg|typeorm|@nestjs|rxjs)\//);
  });
});
