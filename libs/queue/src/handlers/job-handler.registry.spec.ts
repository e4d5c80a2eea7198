import { defineJob } from '../domain/definition.js';
import { type } from '../domain/payload.schema.js';
import { DuplicateHandlerError } from '../errors/duplicate-handler.error.js';
import { InvalidHandlerError } from '../errors/invalid-handler.error.js';
import { NotADefinitionError } from '../errors/not-a-definition.error.js';
import { mannerOf } from './handler.check.js';
import { type GivenHandler, type HandlerEntry, handlerEntry } from './handler.entry.js';
import { JobHandlerRegistry } from './job-handler.registry.js';

const Add = defineJob('sum.add', { payload: type<object>() });
const entry = (given: object): HandlerEntry =>
  handlerEntry({
    definition: Add,
    handler: { run: async () => Promise.resolve() },
    mode: 'attached',
    source: 'Adder',
    ...given,
  } as GivenHandler);

describe('JobHandlerRegistry', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a function', async () => Promise.resolve()],
    ['an object without run', { handle: async () => Promise.resolve() }],
    ['an object whose run is none', { run: 'later' }],
  ])('refuses %s as a handler', (_, handler) => {
    expect(() => new JobHandlerRegistry().register(entry({ handler }))).toThrow(InvalidHandlerError);
  });

  it.each<[string, unknown]>([
    ['undefined, as where two files import each other', undefined],
    ['the name of a kind', 'sum.add'],
    ['a look-alike', { kind: 'sum.add' }],
  ])('refuses a handler of %s', (_, definition) => {
    expect(() => new JobHandlerRegistry().register(entry({ definition }))).toThrow(NotADefinitionError);
  });

  it('R21: refuses a detached handler of a kind whose jobs share transactions', () => {
    const definition = defineJob('sum.add', { groupCommit: { size: 8 }, payload: type<object>() });
    expect(() => new JobHandlerRegistry().register(entry({ definition, mode: 'detached' }))).toThrow(
      /Adder cannot be used: its definition has groupCommit/,
    );
    expect(() => new JobHandlerRegistry().register(entry({ definition }))).not.toThrow();
  });

  it('names both handlers of one kind, and says nothing twice', () => {
    const registry = new JobHandlerRegistry();
    registry.register(entry({}));
    expect(() => registry.register(entry({ source: 'Counter' }))).toThrow(/two handlers, Adder and Counter: keep one/);
    expect(() => registry.register(entry({}))).toThrow(/two handlers, both from Adder: keep one/);
    expect(() => registry.register(entry({}))).toThrow(DuplicateHandlerError);
  });

  it('takes the same handler again without effect, also after the start', () => {
    const registry = new JobHandlerRegistry();
    const one = entry({});
    registry.register(one);
    registry.seal();
    expect(() => registry.register({ ...one })).not.toThrow();
  });

  it('refuses what is registered after the start, when nobody would run it', () => {
    const registry = new JobHandlerRegistry();
    registry.seal();
    expect(() => registry.register(entry({}))).toThrow(/Adder cannot be used: .*before start/);
  });

  it('takes the options of a handler, and refuses any other', () => {
    const given = [undefined, {}, { detached: true }, { batch: { size: 100 } }];
    expect(given.map((options) => mannerOf('Adder', options))).toEqual([
      { mode: 'attached' },
      { mode: 'attached' },
      { mode: 'detached' },
      { batchSize: 100, mode: 'batch' },
    ]);
    expect(() => mannerOf('Adder', { detach: true })).toThrow('detach is no option of a handler');
    expect(() => mannerOf('Adder', { detached: 'yes' })).toThrow(InvalidHandlerError);
    expect(() => mannerOf('Adder', 'detached')).toThrow(InvalidHandlerError);
  });

  it.each([
    [{ batch: { size: 10 }, detached: true }, /leave out detached/],
    [{ batch: null }, /batch must be/],
    [{ batch: 10 }, /batch must be/],
    [{ batch: { length: 10, size: 10 } }, /batch must be/],
    [{ batch: {} }, /from 1 to 1000/],
    [{ batch: { size: 0 } }, /from 1 to 1000/],
    [{ batch: { size: 1_001 } }, /from 1 to 1000/],
    [{ batch: { size: 2.5 } }, /from 1 to 1000/],
  ])('R21: refuses the batch of %j', (options, message) => {
    expect(() => mannerOf('Adder', options)).toThrow(InvalidHandlerError);
    expect(() => mannerOf('Adder', options)).toThrow(message);
  });

  it('R21: a handler of batches has runBatch, and its definition no groupCommit', () => {
    const batch = { batchSize: 10, mode: 'batch' };
    expect(() => new JobHandlerRegistry().register(entry(batch))).toThrow(/no object with a function runBatch/);
    const handler = { runBatch: async () => Promise.resolve() };
    new JobHandlerRegistry().register(entry({ ...batch, handler }));
    const definition = defineJob('sum.add', { groupCommit: { size: 8 }, payload: type<object>() });
    expect(() => new JobHandlerRegistry().register(entry({ ...batch, definition, handler }))).toThrow(
      /Adder cannot be used: its definition has groupCommit/,
    );
  });
});
