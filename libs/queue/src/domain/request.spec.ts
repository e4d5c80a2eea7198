import { z } from 'zod';
import { InvalidRequestError } from '../errors/invalid-request.error.js';
import { type AnyJobDefinition, defineJob } from './definition.js';
import {
  DEFAULT_PAYLOAD_LIMIT_BYTES,
  encodeRequest,
  type EncodingContext,
  jobRequest,
  type RequestOptions,
} from './request.js';

const Send = defineJob('mail.send', {
  payload: z.object({ to: z.string() }),
  priority: 4,
  maxAttempts: 6,
  whenRunning: 'rerun',
  version: 2,
});
const CONTEXT: EncodingContext = { payloadLimitBytes: DEFAULT_PAYLOAD_LIMIT_BYTES, tenancy: true, tenantId: null };

const encode = (options: RequestOptions = {}, context: Partial<EncodingContext> = {}) =>
  encodeRequest(Send.request({ to: 'a' }, options), { ...CONTEXT, ...context });

describe('encodeRequest', () => {
  it('Q3: takes its defaults from the definition and is due now', async () => {
    expect(await encode()).toEqual({
      dedupeKey: null,
      dueAt: null,
      dueInMs: null,
      kind: 'mail.send',
      maxAttempts: 6,
      payloadJson: '{"to":"a"}',
      payloadVersion: 2,
      priority: 4,
      replacePayload: false,
      tenantId: null,
      whenRunning: 'rerun',
    });
  });

  it('carries what was asked for', async () => {
    const runAt = new Date('2026-03-29T01:30:00.123Z');
    expect(
      await encode({
        dedupeKey: 'k',
        runAt,
        priority: 0,
        maxAttempts: 'unlimited',
        tenantId: 't',
        onDuplicate: { payload: 'replace' },
      }),
    ).toMatchObject({
      dedupeKey: 'k',
      dueAt: '2026-03-29T01:30:00.123Z',
      maxAttempts: null,
      priority: 0,
      replacePayload: true,
      tenantId: 't',
    });
    expect(await encode({ runIn: '30d' })).toMatchObject({ dueAt: null, dueInMs: 2_592_000_000 });
  });

  it('T1: inherits the tenant of its unit of work unless it names one', async () => {
    expect(await encode({}, { tenantId: 'acme' })).toMatchObject({ tenantId: 'acme' });
    expect(await encode({ tenantId: null }, { tenantId: 'acme' })).toMatchObject({ tenantId: null });
  });

  it.each([
    ['empty', ''],
    ['over 200 bytes', 'x'.repeat(201)],
    ['U+0000', 'a\0'],
  ])('Q2, T1: refuses an inherited tenant (%s) as it refuses one that is named', async (reason, tenantId) => {
    await expect(encode({}, { tenantId })).rejects.toMatchObject({
      field: 'tenantId',
      message: expect.stringContaining(reason) as unknown,
    });
  });

  it.each<[string, string, unknown]>([
    ['delay', 'is no option of a request, those there are: dedupeKey, .*runAt, runIn', { delay: 5 }],
    ['in', 'is no option of a request', { in: 'own' }],
    ['onDuplicate', "must be { payload: 'replace' }", { onDuplicate: 'replace' }],
    ['onDuplicate', "must be { payload: 'replace' }", { onDuplicate: { priority: 'replace' } }],
  ])('Q2: refuses %s, which would quietly do nothing', async (field, reason, options) => {
    await expect(encode(options as RequestOptions)).rejects.toMatchObject({
      field,
      message: expect.stringMatching(reason) as unknown,
    });
  });

  it('takes maxAttempts from the request, else from this deployment, else from the definition', async () => {
    expect(await encode({}, { maxAttempts: null })).toMatchObject({ maxAttempts: null });
    expect(await encode({ maxAttempts: 2 }, { maxAttempts: 3 })).toMatchObject({ maxAttempts: 2 });
    expect(await encode({}, { maxAttempts: 3 })).toMatchObject({ maxAttempts: 3 });
  });

  it.each<[string, string, unknown]>([
    ['dedupeKey', 'empty', { dedupeKey: '' }],
    ['dedupeKey', 'over 512 bytes', { dedupeKey: 'x'.repeat(513) }],
    ['dedupeKey', 'over 512 bytes', { dedupeKey: 'ü'.repeat(257) }],
    ['dedupeKey', 'U+0000', { dedupeKey: 'a\0' }],
    ['dedupeKey', 'lone surrogate', { dedupeKey: '\uD800' }],
    ['dedupeKey', 'string', { dedupeKey: 7 }],
    ['runAt', 'valid Date', { runAt: new Date('nonsense') }],
    ['runAt', 'valid Date', { runAt: '2026-01-01' }],
    ['runAt', 'valid Date', { runAt: new Date(-1) }],
    ['runAt', 'valid Date', { runAt: new Date(8.64e15) }],
    ['runAt', 'exclude', { runAt: new Date(0), runIn: '1s' }],
    ['runIn', 'duration', { runIn: 'soon' }],
    ['runIn', 'duration', { runIn: '-1s' }],
    ['runIn', 'duration', { runIn: '20000d' }],
    ['maxAttempts', '1 to 100', { maxAttempts: 0 }],
    ['maxAttempts', '1 to 100', { maxAttempts: 101 }],
    ['maxAttempts', '1 to 100', { maxAttempts: 1.5 }],
    ['maxAttempts', '1 to 100', { maxAttempts: Number.NaN }],
    ['priority', '0 (first)', { priority: -1 }],
    ['priority', '0 (first)', { priority: 10 }],
    ['priority', '0 (first)', { priority: '5' }],
    ['tenantId', 'empty', { tenantId: '' }],
    ['tenantId', 'over 200 bytes', { tenantId: 'x'.repeat(201) }],
    ['tenantId', 'U+0000', { tenantId: '\0' }],
    ['onDuplicate.payload', "'replace'", { onDuplicate: { payload: 'keep' } }],
  ])('Q2, K88, K123: refuses %s (%s) before any SQL', async (field, reason, options) => {
    const refused: unknown = await encode(options as RequestOptions).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(InvalidRequestError);
    expect(refused).toMatchObject({
      field,
      code: 'queue.request_refused',
      message: expect.stringContaining(reason) as unknown,
    });
  });

  it('K123: takes a key of exactly 512 bytes, with spaces, in any normal form, as it stands', async () => {
    for (const dedupeKey of ['x'.repeat(512), 'ü'.repeat(256), ' a ', 'e\u0301', '\u00e9']) {
      expect(await encode({ dedupeKey })).toMatchObject({ dedupeKey });
    }
  });

  it('refuses a tenant while tenancy is off, and takes none', async () => {
    await expect(encode({ tenantId: 't' }, { tenancy: false })).rejects.toMatchObject({ field: 'tenantId' });
    await expect(encode({ tenantId: null }, { tenancy: false })).resolves.toMatchObject({ tenantId: null });
  });

  it('Q2: refuses a kind that no definition could have', async () => {
    const forged = { ...Send, kind: 'Mail; DROP' } as AnyJobDefinition;
    await expect(encodeRequest(jobRequest(forged, { to: 'a' }), CONTEXT)).rejects.toMatchObject({ field: 'the kind' });
  });

  it('writes −0 as the priority 0', async () => {
    expect(Object.is((await encode({ priority: -0 })).priority, 0)).toBe(true);
  });
});
