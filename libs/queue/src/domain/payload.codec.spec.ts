import { failureClassOf, UnavailableError } from '@holdfast/kernel/pure';
import { z } from 'zod';
import { InvalidPayloadError } from '../errors/invalid-payload.error.js';
import { NewerPayloadError } from '../errors/newer-payload.error.js';
import { UnreadablePayloadError } from '../errors/unreadable-payload.error.js';
import { defineJob } from './definition.js';
import { decodePayload, encodePayload } from './payload.codec.js';
import { type } from './payload.schema.js';

const LIMIT = 1_000;
const schema = z.object({ eventId: z.string(), size: z.string().transform(Number), retries: z.number().default(3) });
const Plain = defineJob('plain', { payload: schema });

const throwing = () => {
  throw new Error('no');
};

describe('encodePayload', () => {
  it('Q3: stores the input as given, so that it parses again at run', async () => {
    const text = await encodePayload(Plain, { eventId: 'e', size: '5' }, LIMIT);
    expect(JSON.parse(text)).toEqual({ eventId: 'e', size: '5' });
    expect(await decodePayload(Plain, JSON.parse(text), 1)).toEqual({ eventId: 'e', size: 5, retries: 3 });
  });

  it('Q2: names the path of the first issue and counts the others', async () => {
    const refused = encodePayload(
      defineJob('a', { payload: z.object({ items: z.array(z.object({ n: z.number() })), b: z.string() }) }),
      { items: [{ n: 'x' }] },
      LIMIT,
    );
    await expect(refused).rejects.toMatchObject({
      code: 'queue.payload_refused',
      path: 'payload.items[0].n',
      reason: expect.stringContaining('(and 1 more)') as unknown,
    });
  });

  it('Q2: never quotes the values of a payload', async () => {
    const refused = encodePayload(Plain, { eventId: 'e', size: 77_123 }, LIMIT);
    await expect(refused).rejects.toMatchObject({ message: expect.not.stringContaining('77123') as unknown });
  });

  it('awaits an asynchronous schema', async () => {
    const Later = defineJob('later', {
      payload: z.object({ a: z.string().refine(async (a) => Promise.resolve(a === 'ok')) }),
    });
    await expect(encodePayload(Later, { a: 'ok' }, LIMIT)).resolves.toBe('{"a":"ok"}');
    await expect(encodePayload(Later, { a: 'no' }, LIMIT)).rejects.toBeInstanceOf(InvalidPayloadError);
  });

  it('Q2: turns a schema or codec that throws into a refusal', async () => {
    const Bad = defineJob('bad', { payload: { '~standard': { version: 1, vendor: 'x', validate: throwing } } });
    const BadCodec = defineJob('bad', { payload: type<object>(), codec: { encode: throwing, decode: throwing } });
    await expect(encodePayload(Bad, {}, LIMIT)).rejects.toBeInstanceOf(InvalidPayloadError);
    await expect(encodePayload(BadCodec, {}, LIMIT)).rejects.toBeInstanceOf(InvalidPayloadError);
  });

  it('Q2: checks what the schema knows nothing of', async () => {
    await expect(
      encodePayload(defineJob('any', { payload: type<{ at: Date }>() }), { at: new Date() }, LIMIT),
    ).rejects.toMatchObject({ path: 'payload.at' });
  });
});

describe('codec', () => {
  const Dated = defineJob('dated', {
    payload: z.object({ at: z.date() }),
    codec: {
      encode: async ({ at }) => Promise.resolve({ at: at.toISOString() }),
      decode: ({ at }) => ({ at: new Date(at as string) }),
    },
  });

  it('Q3: stores dates through a codec and gives them back', async () => {
    const at = new Date('2026-03-29T01:30:00.123Z');
    const text = await encodePayload(Dated, { at }, LIMIT);
    expect(text).toBe('{"at":"2026-03-29T01:30:00.123Z"}');
    expect(await decodePayload(Dated, JSON.parse(text), 1)).toEqual({ at });
  });

  it('Q3: a codec that cannot reach its keys defers the job and does not bury it', async () => {
    const Sealed = defineJob('sealed', {
      payload: type<object>(),
      codec: { encode: () => ({}), decode: () => Promise.reject(new UnavailableError('keys.away')) },
    });
    const error: unknown = await decodePayload(Sealed, {}, 1).catch((thrown: unknown) => thrown);
    expect(failureClassOf(error)).toBe('unavailable');
  });
});

describe('decodePayload', () => {
  const Current = defineJob('current', {
    payload: z.object({ name: z.string(), tags: z.array(z.string()) }),
    version: 3,
    upcasts: {
      1: (old: { title: string }) => ({ name: old.title }),
      2: (old: { name: string }) => ({ ...old, tags: [] }),
    },
  });

  it('Q3: brings older versions up one by one', async () => {
    expect(await decodePayload(Current, { title: 'x' }, 1)).toEqual({ name: 'x', tags: [] });
    expect(await decodePayload(Current, { name: 'x' }, 2)).toEqual({ name: 'x', tags: [] });
    expect(await decodePayload(Current, { name: 'x', tags: ['t'] }, 3)).toEqual({ name: 'x', tags: ['t'] });
  });

  it.each<[string, unknown, number]>([
    ['no longer parses', { name: 1 }, 3],
    ['makes an upcast throw', null, 1],
    ['has a version without an upcast', {}, 0],
  ])('Q3: a payload that %s is queue.payload_invalid, permanent', async (_, stored, version) => {
    const error: unknown = await decodePayload(Current, stored, version).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnreadablePayloadError);
    expect(error).toMatchObject({ code: 'queue.payload_invalid' });
    expect(failureClassOf(error)).toBe('permanent');
  });

  it('Q3: a payload of a newer deployment waits for a process that knows it', async () => {
    const error: unknown = await decodePayload(Current, {}, 4).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NewerPayloadError);
    expect(failureClassOf(error)).toBe('unavailable');
  });
});
