import { defineJob } from '../domain/definition.js';
import { type } from '../domain/payload.schema.js';
import { DuplicateHandlerError } from '../errors/duplicate-handler.error.js';
import { InvalidHandlerError } from '../errors/invalid-handler.error.js';
import { NotADefinitionError } from '../errors/not-a-definition.error.js';
import { modeOf } from './handler.check.js';
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

  it('takes the one option of a handler, and refuses any other', () => {
    expect([undefined, {}, { detached: true }].map((options) => modeOf('Adder', options))).toEqual([
      'attached',
      'attached',
      'detached',
    ]);
    expect(() => modeOf('Adder', { detach: true })).toThrow('detach is no option of a handler');
    expect(() => modeOf('Adder', { detached: 'yes' })).toThrow(InvalidHandlerError);
    expect(() => modeOf('Adder', 'detached')).toThrow(InvalidHandlerError);
  });
});
