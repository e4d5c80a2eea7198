import 'reflect-metadata';
import { Global, Inject, Injectable, Module, type Provider, Scope } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { defineJob } from '../domain/definition.js';
import { type } from '../domain/payload.schema.js';
import { DuplicateHandlerError } from '../errors/duplicate-handler.error.js';
import { InvalidHandlerError } from '../errors/invalid-handler.error.js';
import { JobHandler } from './job-handler.decorator.js';
import { JobHandlerExplorer } from './job-handler.explorer.js';
import { type HandlerEntry, JobHandlerRegistry } from './job-handler.registry.js';

const Send = defineJob('mail.send', { payload: type<{ to: string }>() });
const Sort = defineJob('mail.sort', { payload: type<{ box: string }>() });

@JobHandler(Send)
class SendHandler {
  async run(): Promise<void> {}
}

async function explore(
  providers: Provider[],
  imports: NonNullable<Parameters<typeof Test.createTestingModule>[0]['imports']> = [],
): Promise<HandlerEntry[]> {
  const module = await Test.createTestingModule({
    imports: [DiscoveryModule, ...imports],
    providers: [JobHandlerExplorer, ...providers],
  }).compile();
  return module.get(JobHandlerExplorer).explore();
}

function register(entries: HandlerEntry[]): JobHandlerRegistry {
  const registry = new JobHandlerRegistry();
  for (const entry of entries) registry.register(entry);
  return registry;
}

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
    expect(entries[0]?.handler).toBeInstanceOf(SendHandler);
  });

  it('K35: an alias is the same handler and counts once', async () => {
    const entries = await explore([
      { provide: 'first', useExisting: SendHandler },
      SendHandler,
      { provide: 'last', useExisting: SendHandler },
    ]);
    expect(entries).toHaveLength(1);
  });

  it('K35: a module imported twice, also by a global one, holds one handler', async () => {
    @Module({ providers: [SendHandler] })
    class MailModule {}
    @Global()
    @Module({ imports: [MailModule] })
    class GlobalModule {}
    expect(await explore([], [MailModule, GlobalModule, MailModule])).toHaveLength(1);
  });

  it('K35: a class listed in two modules is two instances, which the registry refuses by their modules', async () => {
    @Module({ providers: [SendHandler] })
    class OneModule {}
    @Module({ providers: [SendHandler] })
    class TwoModule {}
    const entries = await explore([], [OneModule, TwoModule]);
    expect(() => register(entries)).toThrow(DuplicateHandlerError);
    expect(() => register(entries)).toThrow(/SendHandler \(in OneModule\) and SendHandler \(in TwoModule\)/);
  });

  it('K136: two classes of one name, for two kinds, are two handlers', async () => {
    const made = [Send, Sort].map((definition) => {
      class Handler {
        readonly kind = definition.kind;
        async run(): Promise<void> {}
      }
      JobHandler(definition)(Handler);
      return Handler;
    });
    const registry = register(await explore(made));
    for (const { kind } of [Send, Sort]) expect(registry.find(kind)?.handler).toMatchObject({ kind });
  });

  it.each<[string, Provider]>([
    ['useFactory', { provide: 'factory', useFactory: () => new SendHandler() }],
    ['an asynchronous useFactory', { provide: 'later', useFactory: async () => Promise.resolve(new SendHandler()) }],
    ['useValue', { provide: 'value', useValue: new SendHandler() }],
    ['useClass', { provide: 'class', useClass: SendHandler }],
  ])('K138: finds a handler registered by %s', async (_, provider) => {
    const [entry, ...others] = await explore([provider]);
    expect(entry?.handler).toBeInstanceOf(SendHandler);
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
    expect(module.get(JobHandlerExplorer).explore()).toMatchObject([
      { definition: Send, handler: fake, mode: 'attached' },
    ]);
  });

  it('finds a handler that inherits its mark', async () => {
    class Louder extends SendHandler {}
    expect(await explore([Louder])).toMatchObject([{ definition: Send }]);
  });

  it('refuses a request-scoped handler and one that injects something request-scoped, by its name', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest {}
    @JobHandler(Sort)
    class Dependent {
      constructor(@Inject(PerRequest) readonly perRequest: PerRequest) {}
      async run(): Promise<void> {}
    }
    await expect(explore([PerRequest, Dependent])).rejects.toThrow(
      /Dependent \(in RootTestModule\) of mail.sort cannot be used: it is request-scoped/,
    );
    await expect(explore([{ provide: SendHandler, useClass: SendHandler, scope: Scope.REQUEST }])).rejects.toThrow(
      InvalidHandlerError,
    );
    await expect(explore([{ provide: SendHandler, useClass: SendHandler, scope: Scope.TRANSIENT }])).rejects.toThrow(
      /transient/,
    );
  });

  it('refuses a marked provider without a run', async () => {
    class Empty {}
    JobHandler(Send)(Empty as typeof SendHandler);
    await expect(explore([Empty])).rejects.toThrow(/no function run/);
  });

  it('passes over everything else that Nest provides', async () => {
    const odd: Provider[] = [
      { provide: 'undefined', useValue: undefined },
      { provide: 'null', useValue: null },
      { provide: 'text', useValue: 'x' },
      { provide: 'function', useValue: () => 1 },
      { provide: 'bare', useValue: Object.create(null) as object },
    ];
    expect(await explore(odd)).toEqual([]);
  });
});
