/* eslint-disable no-restricted-syntax -- providers that need each other are what one of the tests is about */
import 'reflect-metadata';
import { IncomingMessage } from 'node:http';
import { Controller, forwardRef, Inject, Injectable, Module, type ModuleMetadata, Scope } from '@nestjs/common';
import { ContextIdFactory, DiscoveryModule, ModuleRef, REQUEST } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { defineJob } from '../domain/definition.js';
import type { Job } from '../domain/job.js';
import { type } from '../domain/payload.schema.js';
import { InvalidHandlerError } from '../errors/invalid-handler.error.js';
import type { Explored } from './explored.js';
import type { HandlerEntry } from './handler.entry.js';
import { JobHandler } from './job-handler.decorator.js';
import { JobHandlerExplorer } from './job-handler.explorer.js';
import { JobHandlerRegistry } from './job-handler.registry.js';

const Send = defineJob('mail.send', { payload: type<{ to: string }>() });

async function explore(metadata: ModuleMetadata): Promise<Explored<HandlerEntry>> {
  const module = await Test.createTestingModule({
    ...metadata,
    imports: [DiscoveryModule, ...(metadata.imports ?? [])],
    providers: [JobHandlerExplorer, ...(metadata.providers ?? [])],
  }).compile();
  return module.get(JobHandlerExplorer).explore();
}

const jobOf = (id: string) => ({ id, payload: { to: id } }) as unknown as Job<never>;

async function resolved<T>(metadata: ModuleMetadata, ...ids: string[]): Promise<T[]> {
  const { entries, mistakes } = await explore(metadata);
  expect(mistakes).toEqual([]);
  expect(entries).toHaveLength(1);
  return Promise.all(ids.map(async (id) => entries[0]!.resolve(jobOf(id)) as T));
}

async function refused(metadata: ModuleMetadata): Promise<InvalidHandlerError> {
  const { entries, mistakes } = await explore(metadata);
  expect([entries.length, mistakes.length]).toEqual([0, 1]);
  expect(mistakes[0]).toBeInstanceOf(InvalidHandlerError);
  return mistakes[0] as InvalidHandlerError;
}

@Injectable({ scope: Scope.REQUEST })
class PerJob {
  constructor(@Inject(REQUEST) readonly job: Job) {}
}

@Injectable()
class Repository {
  constructor(readonly perJob: PerJob) {}
}

@Injectable()
class Single {}

@JobHandler(Send)
class SendHandler {
  constructor(
    readonly repository: Repository,
    readonly perJob: PerJob,
    readonly single: Single,
  ) {}
  async run(): Promise<void> {}
}

@JobHandler(Send)
@Injectable({ scope: Scope.REQUEST })
class Bare {
  @Inject(REQUEST) readonly job!: Job;
  async run(): Promise<void> {}
}

describe('Request-scoped handlers (R20)', () => {
  const providers = [SendHandler, Repository, PerJob, Single];

  it('R20: one is made for each job, with the job as REQUEST, and everything that it injects of that scope with it', async () => {
    const [first, second] = await resolved<SendHandler>({ providers }, '1', '2');
    expect([first!.perJob.job.id, second!.perJob.job.id]).toEqual(['1', '2']);
    expect(first).toBeInstanceOf(SendHandler);
    expect(first).not.toBe(second);
    expect(first!.repository.perJob).toBe(first!.perJob);
    expect(first!.repository).not.toBe(second!.repository);
    expect(first!.single).toBe(second!.single);
  });

  it('R20: one that is request-scoped itself, with REQUEST in a property', async () => {
    const [one] = await resolved<Bare>({ providers: [Bare] }, '1');
    expect(one!.job).toEqual(jobOf('1'));
  });

  it('R20: jobs that are resolved at the same time do not meet', async () => {
    const ids = Array.from({ length: 50 }, (_, at) => String(at));
    const handlers = await resolved<SendHandler>(
      {
        providers: [
          ...providers.slice(0, 2),
          Single,
          {
            provide: PerJob,
            scope: Scope.REQUEST,
            inject: [REQUEST],
            useFactory: async (job: Job) => {
              await new Promise((resolve) => setImmediate(resolve));
              return new PerJob(job);
            },
          },
        ],
      },
      ...ids,
    );
    expect(handlers.map(({ repository }) => repository.perJob.job.id)).toEqual(ids);
    expect(handlers.map(({ perJob }) => perJob.job.id)).toEqual(ids);
  });

  it('R20: a transient provider in the chain is made for each that injects it', async () => {
    @Injectable({ scope: Scope.TRANSIENT })
    class Note {
      constructor(@Inject(REQUEST) readonly job: Job) {}
    }
    @Injectable()
    class Other {
      constructor(readonly note: Note) {}
    }
    @JobHandler(Send)
    class Handler {
      constructor(
        readonly note: Note,
        readonly other: Other,
      ) {}
      async run(): Promise<void> {}
    }
    const [one, two] = await resolved<Handler>({ providers: [Handler, Other, Note] }, '1', '2');
    expect([one!.note.job.id, one!.other.note.job.id, two!.note.job.id]).toEqual(['1', '1', '2']);
    expect(one!.note).not.toBe(one!.other.note);
  });

  it('R20: providers that need each other', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Left {
      constructor(@Inject(forwardRef(() => Right)) readonly right: object) {}
    }
    @Injectable()
    class Right {
      constructor(@Inject(forwardRef(() => Left)) readonly left: object) {}
    }
    @JobHandler(Send)
    class Handler {
      constructor(readonly left: Left) {}
      async run(): Promise<void> {}
    }
    const [one, two] = await resolved<Handler>({ providers: [Handler, Left, Right] }, '1', '2');
    expect(one!.left).toBeInstanceOf(Left);
    expect(one!.left).not.toBe(two!.left);
  });

  it('R20: the module that holds the handler says which provider of a token it gets', async () => {
    @JobHandler(Send)
    @Injectable({ scope: Scope.REQUEST })
    class Handler {
      constructor(@Inject('name') readonly name: string) {}
      async run(): Promise<void> {}
    }
    @Module({
      providers: [
        { provide: Handler, useClass: class Other {} },
        { provide: 'name', useValue: 'decoy' },
      ],
    })
    class Decoy {}
    @Module({ providers: [Handler, { provide: 'name', useValue: 'own' }] })
    class Own {}
    const { entries } = await explore({ imports: [Decoy, Own] });
    const own = entries.find(({ source }) => source.includes('Own'));
    await expect(own!.resolve(jobOf('1'))).resolves.toMatchObject({ name: 'own' });
  });

  it('K35: an alias of one counts once, and one registered by a factory under its class is found (K138)', async () => {
    const alias = { provide: 'alias', useExisting: SendHandler };
    const { entries } = await explore({ providers: [alias, ...providers] });
    const registry = new JobHandlerRegistry();
    for (const entry of [...entries, ...entries]) registry.register(entry);
    expect(registry.kinds).toEqual(['mail.send']);

    const made = {
      provide: Bare,
      scope: Scope.REQUEST,
      inject: [REQUEST],
      useFactory: (job: Job) => ({ job, run() {} }),
    };
    const [one] = await resolved<{ job: Job }>({ providers: [made] }, '5');
    expect(one!.job.id).toBe('5');
  });

  it('K35: an alias that stands for another handler by its class is that class', async () => {
    class Replacement extends Bare {}
    const [one] = await resolved({ providers: [Replacement, { provide: 'x', useExisting: Replacement }] }, '1');
    expect(one).toBeInstanceOf(Replacement);
  });

  it('R20: what a constructor throws is what resolving throws, and the next job is not hurt by it', async () => {
    @JobHandler(Send)
    @Injectable({ scope: Scope.REQUEST })
    class Picky {
      constructor(@Inject(REQUEST) job: Job) {
        if (job.id === '1') throw new RangeError('not this one');
      }
      async run(): Promise<void> {}
    }
    const { entries } = await explore({ providers: [Picky] });
    await expect(entries[0]!.resolve(jobOf('1'))).rejects.toThrow(new RangeError('not this one'));
    await expect(entries[0]!.resolve(jobOf('2'))).resolves.toBeInstanceOf(Picky);
  });

  it('R20: a factory that answers no handler fails the attempt by its name', async () => {
    const made = { provide: Bare, scope: Scope.REQUEST, useFactory: () => ({}) };
    const { entries } = await explore({ providers: [made] });
    await expect(entries[0]!.resolve(jobOf('1'))).rejects.toThrow(/Bare .*of mail.send .*no function run|run\(job/);
  });

  it('R20: the scope of a REST request is not the scope of a job', async () => {
    @Controller()
    class Orders {
      constructor(readonly perJob: PerJob) {}
    }
    const module = await Test.createTestingModule({
      controllers: [Orders],
      imports: [DiscoveryModule],
      providers: [JobHandlerExplorer, ...providers],
    }).compile();
    const contextId = ContextIdFactory.create();
    module.get(ModuleRef).registerRequestByContextId({ url: '/orders' }, contextId);
    const orders = await module.resolve(Orders, contextId);
    const [entry] = module.get(JobHandlerExplorer).explore().entries;
    const handler = (await entry!.resolve(jobOf('1'))) as unknown as SendHandler;
    expect(orders.perJob.job).toEqual({ url: '/orders' });
    expect(handler.perJob.job.id).toBe('1');
  });

  describe('where it cannot work', () => {
    it('R20: a durable provider in the chain refuses the start, and the chain is named', async () => {
      @Injectable({ durable: true, scope: Scope.REQUEST })
      class TenantPool {}
      @Injectable()
      class TenantRepository {
        constructor(readonly pool: TenantPool) {}
      }
      @JobHandler(Send)
      class Handler {
        constructor(readonly repository: TenantRepository) {}
        async run(): Promise<void> {}
      }
      const error = await refused({ providers: [Handler, TenantRepository, TenantPool] });
      expect(error.chain).toEqual(['Handler', 'TenantRepository', 'TenantPool']);
      expect(error.message).toMatch(
        /Handler \(in RootTestModule\) of mail\.send cannot be used: Handler → TenantRepository → TenantPool is durable/,
      );
    });

    it('R20: a REQUEST that is typed as a class of HTTP refuses the start, and the chain is named', async () => {
      @Injectable({ scope: Scope.REQUEST })
      class Visitor {
        constructor(@Inject(REQUEST) readonly request: IncomingMessage) {}
      }
      @Injectable({ scope: Scope.REQUEST })
      class Session {
        @Inject() readonly visitor!: Visitor;
      }
      @JobHandler(Send)
      class Handler {
        constructor(readonly session: Session) {}
        async run(): Promise<void> {}
      }
      const error = await refused({ providers: [Handler, Session, Visitor] });
      expect(error.chain).toEqual(['Handler', 'Session', 'Visitor', 'REQUEST']);
      expect(error.message).toContain('Handler → Session → Visitor → REQUEST is typed IncomingMessage');
    });

    it('R20: the same in a property', async () => {
      @JobHandler(Send)
      @Injectable({ scope: Scope.REQUEST })
      class Handler {
        @Inject(REQUEST) readonly request!: IncomingMessage;
        async run(): Promise<void> {}
      }
      expect((await refused({ providers: [Handler] })).chain).toEqual(['Handler', 'REQUEST']);
    });

    it('R20: a transient handler refuses the start, also one with something request-scoped below', async () => {
      @JobHandler(Send)
      @Injectable({ scope: Scope.TRANSIENT })
      class Handler {
        constructor(readonly perJob: PerJob) {}
        async run(): Promise<void> {}
      }
      expect((await refused({ providers: [Handler, PerJob] })).message).toMatch(/it is transient/);
    });
  });
});
