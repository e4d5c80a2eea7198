import 'reflect-metadata';
import { Controller, Injectable, Module, type ModuleMetadata, Scope } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { defineJob } from '../domain/definition.js';
import { type } from '../domain/payload.schema.js';
import { DuplicateHandlerError } from '../errors/duplicate-handler.error.js';
import { HandlerMistakesError } from '../errors/handler-mistakes.error.js';
import { EventStream } from '../ports/event.stream.js';
import type { QueueEvent } from '../ports/queue.events.js';
import { DecoratedExplorer } from './decorated.explorer.js';
import { InterceptJobs } from './intercept-jobs.decorator.js';
import { JobEventDispatcher } from './job-event.dispatcher.js';
import { JobEventExplorer } from './job-event.explorer.js';
import { JobHandler } from './job-handler.decorator.js';
import { JobHandlerExplorer } from './job-handler.explorer.js';
import { JobHandlerRegistry } from './job-handler.registry.js';
import { JobInterceptorExplorer } from './job-interceptor.explorer.js';
import { JobInterceptorRegistry } from './job-interceptor.registry.js';
import type { JobAnswer, JobCall } from './job.interceptor.js';
import { ListenerDiscovery } from './listener.discovery.js';
import { HandlerDiscovery } from './nest.discovery.js';
import { OnJobEvent } from './on-job-event.decorator.js';
import { UnprovidedClasses } from './unprovided.classes.js';

const Send = defineJob('mail.send', { payload: type<{ to: string }>() });
const Sort = defineJob('mail.sort', { payload: type<{ box: string }>() });
const run = { attempt: 1, id: '7', kind: 'mail.send', tenantId: null };
const started = (id = '7', kind = 'mail.send'): QueueEvent => ({
  type: 'job.started',
  run: { ...run, id, kind },
  waitedMs: 1,
});

@JobHandler(Send)
class SendHandler {
  async run(): Promise<void> {}
}

@InterceptJobs({ order: 2 })
class Outer {
  async intercept(_call: JobCall, next: () => Promise<JobAnswer>): Promise<JobAnswer> {
    return next();
  }
}

@Injectable()
class Audit {
  readonly heard: string[] = [];

  @OnJobEvent('job.started', Send)
  one(event: { run: { id: string } }): void {
    this.heard.push(event.run.id);
  }
}

class Loud extends Audit {
  override one(event: { run: { id: string } }): void {
    this.heard.push(`${event.run.id}!`);
  }
}

class Discovered {
  readonly stream = new EventStream();

  private constructor(
    private readonly module: Awaited<ReturnType<ReturnType<typeof Test.createTestingModule>['compile']>>,
  ) {}

  static async in(metadata: ModuleMetadata): Promise<Discovered> {
    const own = [
      DecoratedExplorer,
      UnprovidedClasses,
      HandlerDiscovery,
      JobEventExplorer,
      JobHandlerExplorer,
      JobInterceptorExplorer,
      ListenerDiscovery,
    ];
    const module = await Test.createTestingModule({
      ...metadata,
      imports: [DiscoveryModule, ...(metadata.imports ?? [])],
      providers: [
        ...own,
        JobHandlerRegistry,
        JobInterceptorRegistry,
        {
          provide: JobEventDispatcher,
          useFactory: () => new JobEventDispatcher({ report: () => undefined }),
        },
        ...(metadata.providers ?? []),
      ],
    }).compile();
    return new Discovered(module);
  }

  get<T>(token: new (...args: never[]) => T): T {
    return this.module.get(token);
  }

  register(): this {
    this.get(HandlerDiscovery).register();
    this.get(JobEventDispatcher).hear(this.stream);
    return this;
  }

  /** told reports events and resolves when all listeners have been told. */
  async told(...events: QueueEvent[]): Promise<void> {
    for (const event of events) this.stream.report(event);
    await this.get(JobEventDispatcher).close();
  }
}

describe('HandlerDiscovery', () => {
  it('R20: puts handlers, interceptors and listeners where they are looked for, and again without effect', async () => {
    const discovered = (await Discovered.in({ providers: [SendHandler, Outer, Audit] })).register().register();
    expect(discovered.get(JobHandlerRegistry).kinds).toEqual(['mail.send']);
    expect(discovered.get(JobInterceptorRegistry).around('mail.send')).toEqual([
      { interceptor: discovered.get(Outer), order: 2, source: 'Outer (in RootTestModule)' },
    ]);
    await discovered.told(started());
    expect(discovered.get(Audit).heard).toEqual(['7']);
  });

  it('names every mistake of handlers, interceptors and listeners in one error', async () => {
    @JobHandler(Sort)
    @Injectable({ scope: Scope.TRANSIENT })
    class Transient {
      async run(): Promise<void> {}
    }
    @Controller()
    class Listening {
      @OnJobEvent('job.lost')
      lost(): void {}
    }
    @InterceptJobs()
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest extends Outer {}
    @Module({ providers: [SendHandler] })
    class One {}
    @Module({ providers: [SendHandler] })
    class Two {}
    const discovered = await Discovered.in({
      controllers: [Listening],
      imports: [One, Two],
      providers: [Transient, PerRequest],
    });
    const failed = (() => {
      try {
        discovered.register();
      } catch (error) {
        return error as HandlerMistakesError;
      }
      throw new Error('there was no mistake');
    })();
    expect(failed).toBeInstanceOf(HandlerMistakesError);
    expect(failed.mistakes).toHaveLength(4);
    for (const part of [
      'Transient (in RootTestModule) of mail.sort cannot be used: it is transient',
      'SendHandler (in One) and SendHandler (in Two)',
      'PerRequest (in RootTestModule) cannot be used: it is request-scoped (PerRequest)',
      'Listening (in RootTestModule) cannot be used: it is a controller',
    ])
      expect(failed.message).toContain(part);
  });

  it('throws the error itself where it is one mistake', async () => {
    @Module({ providers: [SendHandler] })
    class One {}
    @Module({ providers: [SendHandler] })
    class Two {}
    const discovered = await Discovered.in({ imports: [One, Two] });
    expect(() => discovered.register()).toThrow(DuplicateHandlerError);
  });

  describe('interceptors and listeners', () => {
    it('K35: an alias counts once; a class that two modules list would be called twice, and is refused by both', async () => {
      const alias = { provide: 'alias', useExisting: Outer };
      const once = (await Discovered.in({ providers: [alias, Outer] })).register();
      expect(once.get(JobInterceptorRegistry).around('mail.send')).toHaveLength(1);
      @Module({ providers: [Outer] })
      class One {}
      @Module({ providers: [Outer] })
      class Two {}
      const twice = await Discovered.in({ imports: [One, Two] });
      expect(() => twice.register()).toThrow(/Outer \(in Two\) .*there twice, the other is Outer \(in One\)/);
    });

    it('K134: a dynamic module made again from equal options is one', async () => {
      const heard: string[] = [];
      class Hears {
        @OnJobEvent('job.started')
        started(event: { run: { id: string } }): void {
          heard.push(event.run.id);
        }
      }
      @Module({})
      class Feature {}
      const feature = () => ({ module: Feature, providers: [Hears, { provide: 'options', useValue: { a: 1 } }] });
      const wrap = () => {
        @Module({ imports: [feature()] })
        class Wrapped {}
        return Wrapped;
      };
      const discovered = (await Discovered.in({ imports: [wrap(), wrap()] })).register();
      await discovered.told(started());
      expect(heard).toEqual(['7']);
    });

    it('K138: found by useValue and useFactory; two that factories make are two', async () => {
      const audit = new Audit();
      const discovered = (
        await Discovered.in({
          providers: [
            { provide: 'value', useValue: audit },
            { provide: 'a', useFactory: () => new Outer() },
            { provide: 'b', useFactory: () => new Outer() },
          ],
        })
      ).register();
      expect(discovered.get(JobInterceptorRegistry).around('x')).toHaveLength(2);
      await discovered.told(started());
      expect(audit.heard).toEqual(['7']);
    });

    it('a method that is overridden keeps its mark and is called once', async () => {
      const discovered = (await Discovered.in({ providers: [Loud] })).register();
      await discovered.told(started());
      expect(discovered.get(Loud).heard).toEqual(['7!']);
    });

    it('a listener of a definition hears of its kind alone', async () => {
      const discovered = (await Discovered.in({ providers: [Audit] })).register();
      await discovered.told(started('1'), started('2', 'mail.sort'), { type: 'runner.stopped' }, started('3'));
      expect(discovered.get(Audit).heard).toEqual(['1', '3']);
    });

    it('refuses a listener whose class injects something request-scoped, and names the chain', async () => {
      @Injectable({ scope: Scope.REQUEST })
      class Scoped {}
      @Injectable()
      class Below {
        constructor(readonly scoped: Scoped) {}
      }
      @Injectable()
      class Hears {
        constructor(readonly below: Below) {}
        @OnJobEvent('job.lost')
        lost(): void {}
      }
      const discovered = await Discovered.in({ providers: [Hears, Below, Scoped] });
      expect(() => discovered.register()).toThrow(
        /Hears .*request-scoped \(Hears → Below → Scoped\): make it a singleton/,
      );
    });
  });

  describe('marked classes that no module provides', () => {
    it('are named by a warning; not those that a subclass, a module or another handler of the kind stands for', async () => {
      const Lost = defineJob('mail.lost', { payload: type<object>() });
      @JobHandler(Lost)
      class ForgottenHandler {
        async run(): Promise<void> {}
      }
      class ForgottenListener {
        @OnJobEvent('job.lost')
        lost(): void {}
      }
      @InterceptJobs()
      class ForgottenInterceptor extends Outer {}
      class Derived extends SendHandler {}
      const discovered = (await Discovered.in({ providers: [Derived] })).register().register();
      const unprovided = discovered.get(HandlerDiscovery).unprovided();
      expect(unprovided).toEqual(
        expect.arrayContaining([
          'ForgottenHandler @JobHandler(mail.lost)',
          "ForgottenListener @OnJobEvent('job.lost')",
          'ForgottenInterceptor @InterceptJobs',
        ]),
      );
      expect(unprovided.join()).not.toContain('SendHandler');
      expect(discovered.get(JobHandlerRegistry).warnings).toEqual([
        expect.stringContaining('ForgottenHandler @JobHandler(mail.lost)'),
      ]);
      expect([ForgottenHandler, ForgottenListener, ForgottenInterceptor]).toHaveLength(3);
    });

    it('are forgiven where another class handles the kind', async () => {
      @JobHandler(Sort)
      class Old {
        async run(): Promise<void> {}
      }
      @JobHandler(Sort)
      class New {
        async run(): Promise<void> {}
      }
      const discovered = (await Discovered.in({ providers: [New] })).register();
      expect(discovered.get(HandlerDiscovery).unprovided().join()).not.toContain('Old');
      expect(Old).toBeDefined();
    });
  });
});
