import 'reflect-metadata';
import {
  Controller,
  type DynamicModule,
  Global,
  Inject,
  Injectable,
  Module,
  type ModuleMetadata,
  type Provider,
  Scope,
} from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { defineJob } from '../domain/definition.js';
import { type } from '../domain/payload.schema.js';
import { DuplicateHandlerError } from '../errors/duplicate-handler.error.js';
import { InvalidHandlerError } from '../errors/invalid-handler.error.js';
import type { Explored } from './explored.js';
import type { HandlerEntry } from './handler.entry.js';
import { JobHandler } from './job-handler.decorator.js';
import { JobHandlerExplorer } from './job-handler.explorer.js';
import { JobHandlerRegistry } from './job-handler.registry.js';

const Send = defineJob('mail.send', { payload: type<{ to: string }>() });
const Sort = defineJob('mail.sort', { payload: type<{ box: string }>() });

@JobHandler(Send)
class SendHandler {
  async run(): Promise<void> {}
}

async function look(metadata: ModuleMetadata): Promise<Explored<HandlerEntry>> {
  const module = await Test.createTestingModule({
    ...metadata,
    imports: [DiscoveryModule, ...(metadata.imports ?? [])],
    providers: [JobHandlerExplorer, ...(metadata.providers ?? [])],
  }).compile();
  return module.get(JobHandlerExplorer).explore();
}

async function explore(providers: Provider[], imports: ModuleMetadata['imports'] = []): Promise<HandlerEntry[]> {
  const { entries, mistakes } = await look({ imports, providers });
  expect(mistakes).toEqual([]);
  return [...entries];
}

async function mistakesOf(metadata: ModuleMetadata): Promise<string[]> {
  return (await look(metadata)).mistakes.map(({ message }) => message);
}

function register(entries: readonly HandlerEntry[]): JobHandlerRegistry {
  const registry = new JobHandlerRegistry();
  for (const entry of entries) registry.register(entry);
  return registry;
}

const handlerOf = (entry: HandlerEntry | undefined): unknown => entry?.resolve({} as never);

describe('JobHandlerExplorer', () => {
  it('answers each handler with its definition, its mode and where it was found', async () => {
    @JobHandler(Sort, { detached: true })
    class SortHandler {
      async run(): Promise<void> {}
    }
    const entries = await explore([SendHandler, SortHandler]);
    expect(entries.map(({ definition, mode, source }) => [definition.kind, mode, source])).toEqual([
      ['mail.send', 'attached', 'SendHandler (in RootTestModule)'],
      ['mail.sort', 'detached', 'SortHandler (in RootTestModule)'],
    ]);
    expect(handlerOf(entries[0])).toBeInstanceOf(SendHandler);
  });

  it('K35: an alias is the same handler and counts once', async () => {
    const entries = await explore([
      { provide: 'first', useExisting: SendHandler },
      SendHandler,
      { provide: 'last', useExisting: SendHandler },
    ]);
    expect(register(entries).kinds).toEqual(['mail.send']);
  });

  it('K35: a module imported twice, also by a global one, holds one handler', async () => {
    @Module({ providers: [SendHandler] })
    class MailModule {}
    @Global()
    @Module({ imports: [MailModule] })
    class GlobalModule {}
    expect(await explore([], [MailModule, GlobalModule, MailModule])).toHaveLength(1);
  });

  it('K35: a class listed in two modules is two instances, which the registry refuses by their classes and modules', async () => {
    @Module({ providers: [SendHandler] })
    class OneModule {}
    @Module({ providers: [{ provide: 'sender', useFactory: () => new SendHandler() }] })
    class TwoModule {}
    const entries = await explore([], [OneModule, TwoModule]);
    expect(() => register(entries)).toThrow(DuplicateHandlerError);
    expect(() => register(entries)).toThrow(
      /SendHandler \(in OneModule\) and SendHandler provided as sender \(in TwoModule\)/,
    );
  });

  it('K35: registering what was found again changes nothing', async () => {
    const entries = await explore([SendHandler]);
    const registry = register([...entries, ...entries]);
    expect(registry.kinds).toEqual(['mail.send']);
  });

  it('K136: two classes of one name in two modules, for two kinds, are two handlers', async () => {
    const made = [Send, Sort].map((definition) => {
      class Handler {
        readonly kind = definition.kind;
        async run(): Promise<void> {}
      }
      JobHandler(definition)(Handler);
      @Module({ providers: [Handler] })
      class Mail {}
      return Mail;
    });
    const registry = register(await explore([], made));
    for (const { kind } of [Send, Sort]) expect(handlerOf(registry.find(kind))).toMatchObject({ kind });
  });

  it('K136: classes whose names were minified away are told apart', async () => {
    const made = [Send, Sort].map((definition) => {
      const Minified = class {
        readonly kind = definition.kind;
        async run(): Promise<void> {}
      };
      Object.defineProperty(Minified, 'name', { value: 'a' });
      JobHandler(definition)(Minified);
      return Minified;
    });
    const registry = register(await explore(made));
    for (const { kind } of [Send, Sort]) expect(handlerOf(registry.find(kind))).toMatchObject({ kind });
  });

  it.each<[string, Provider]>([
    ['useFactory', { provide: 'factory', useFactory: () => new SendHandler() }],
    ['an asynchronous useFactory', { provide: 'later', useFactory: async () => Promise.resolve(new SendHandler()) }],
    ['useValue', { provide: 'value', useValue: new SendHandler() }],
    ['useClass', { provide: 'class', useClass: SendHandler }],
    ['a symbol', { provide: Symbol('handler'), useClass: SendHandler }],
  ])('K138: finds a handler registered by %s', async (_, provider) => {
    const [entry, ...others] = await explore([provider]);
    expect(handlerOf(entry)).toBeInstanceOf(SendHandler);
    expect(others).toEqual([]);
  });

  it('K138: finds the replacement of a handler in a test by the token that it replaces', async () => {
    const fake = { run: async () => Promise.resolve() };
    const module = await Test.createTestingModule({
      imports: [DiscoveryModule],
      providers: [JobHandlerExplorer, SendHandler],
    })
      .overrideProvider(SendHandler)
      .useValue(fake)
      .compile();
    const { entries } = module.get(JobHandlerExplorer).explore();
    expect(entries).toMatchObject([{ definition: Send, identity: fake, mode: 'attached' }]);
  });

  it('finds a handler that inherits its mark', async () => {
    class Louder extends SendHandler {}
    expect(await explore([Louder])).toMatchObject([{ definition: Send }]);
  });

  describe('dynamic modules (K134)', () => {
    @Injectable()
    class Transport {}
    @Module({})
    class MailModule {
      static forFeature(options: object, more: Provider[] = []): DynamicModule {
        return {
          module: MailModule,
          providers: [
            SendHandler,
            Transport,
            { provide: 'options', useValue: options },
            { provide: 'alias', useExisting: Transport },
            ...more,
          ],
        };
      }
    }
    const inModule = (imported: DynamicModule) => {
      @Module({ imports: [imported] })
      class FeatureModule {}
      return FeatureModule;
    };
    const features = (...imported: DynamicModule[]) => explore([], imported.map(inModule));

    it('K134: made in three modules from equal options, it is one handler', async () => {
      const entries = await features(...[1, 2, 3].map(() => MailModule.forFeature({ from: { name: 'a' } })));
      expect(register(entries).kinds).toEqual(['mail.send']);
    });

    it('K134: made from different options, it is two, and the start says why', async () => {
      const entries = await features(MailModule.forFeature({ from: 'a' }), MailModule.forFeature({ from: 'b' }));
      expect(() => register(entries)).toThrow(
        /two handlers, both from SendHandler \(in MailModule\), whose module was made twice with other options/,
      );
    });

    it('K134: what its factories close over cannot be seen, so it is two; the same module object is one', async () => {
      const made = () => MailModule.forFeature({}, [{ provide: 'made', useFactory: () => 1 }]);
      expect(() => register([])).not.toThrow();
      await expect(features(made(), made()).then(register)).rejects.toThrow(DuplicateHandlerError);
      const once = made();
      expect(register(await features(once, once)).kinds).toEqual(['mail.send']);
    });
  });

  describe('mistakes', () => {
    it('refuses a transient handler by its name', async () => {
      expect(
        await mistakesOf({ providers: [{ provide: SendHandler, useClass: SendHandler, scope: Scope.TRANSIENT }] }),
      ).toEqual([
        expect.stringMatching(/SendHandler \(in RootTestModule\) of mail.send cannot be used: it is transient/),
      ]);
    });

    it('refuses a marked provider without a run, and one whose value is nothing', async () => {
      class Empty {}
      JobHandler(Sort)(Empty as typeof SendHandler);
      const { mistakes } = await look({ providers: [Empty, { provide: SendHandler, useValue: undefined }] });
      expect(mistakes).toEqual([expect.any(InvalidHandlerError), expect.any(InvalidHandlerError)]);
      expect(mistakes.map(({ message }) => message)).toEqual([
        expect.stringMatching(/Empty .*of mail.sort cannot be used: it is no object with a function run/),
        expect.stringMatching(/SendHandler .*of mail.send cannot be used: it is no object with a function run/),
      ]);
    });

    it('refuses a handler that is a controller', async () => {
      @JobHandler(Sort)
      @Controller()
      class SortController {
        async run(): Promise<void> {}
      }
      expect(await mistakesOf({ controllers: [SortController] })).toEqual([
        expect.stringMatching(/SortController \(in RootTestModule\) cannot be used: it is a controller/),
      ]);
    });

    it('names every mistake, not the first alone', async () => {
      @JobHandler(Sort)
      @Injectable({ scope: Scope.TRANSIENT })
      class One {
        async run(): Promise<void> {}
      }
      class Two {}
      JobHandler(Send)(Two as typeof SendHandler);
      expect(await mistakesOf({ providers: [One, Two] })).toHaveLength(2);
    });
  });

  it('passes over everything else that Nest provides', async () => {
    const hostile = {
      get constructor(): unknown {
        throw new Error('do not look');
      },
    };
    const odd: Provider[] = [
      { provide: 'undefined', useValue: undefined },
      { provide: 'null', useValue: null },
      { provide: 'text', useValue: 'x' },
      { provide: 'function', useValue: () => 1 },
      { provide: 'bare', useValue: Object.create(null) as object },
      { provide: 'hostile', useFactory: () => ({ hostile }) },
      { provide: 'injected', useFactory: (text: string) => text, inject: ['text'] },
    ];
    expect(await explore(odd)).toEqual([]);
  });

  it('a handler may inject what it likes', async () => {
    @JobHandler(Sort)
    class Dependent {
      constructor(@Inject('text') readonly text: string) {}
      async run(): Promise<void> {}
    }
    const [entry] = await explore([Dependent, { provide: 'text', useValue: 'x' }]);
    expect(handlerOf(entry)).toMatchObject({ text: 'x' });
  });
});
