import 'reflect-metadata';
import { type Database, pgPool, UnitOfWork } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import { Inject, Injectable, Module, type ModuleMetadata, Scope } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { Test, type TestingModule } from '@nestjs/testing';
import {
  type AttachedContext,
  type AttachedHandler,
  defineJob,
  type EventOf,
  HandlerMistakesError,
  InterceptJobs,
  InvalidHandlerError,
  type Job,
  type JobAnswer,
  type JobCall,
  JobHandler,
  type JobInterceptor,
  type JobOf,
  JobQueue,
  NoHandlersError,
  OnJobEvent,
  QueueModule,
  type QueueEvent,
  Runner,
  type,
} from '../../src/index.js';
import { untilState } from './probe.js';

const Send = defineJob('mail.send', { payload: type<{ to: string }>() });
const Lose = defineJob('mail.lose', { payload: type<object>(), maxAttempts: 1 });
const Rare = defineJob('mail.rare', { payload: type<object>() });

/** What the last test found. */
const told: string[] = [];

@Injectable({ scope: Scope.REQUEST })
class Recipient {
  constructor(@Inject(REQUEST) readonly job: Job<{ to: string }>) {}
}

@JobHandler(Send)
class SendHandler implements AttachedHandler<typeof Send> {
  constructor(private readonly recipient: Recipient) {}

  run = async (job: JobOf<typeof Send>, ctx: AttachedContext): Promise<void> => {
    told.push(`send ${this.recipient.job.payload.to}${this.recipient.job === job ? '' : ' of another'}`);
    await ctx.tx.sql.query('SELECT 1', []);
  };
}

@JobHandler(Lose)
class LoseHandler {
  run = (): Promise<void> => Promise.reject(new Error('lost'));
}

@InterceptJobs({ order: 1 })
class Inner implements JobInterceptor {
  async intercept(call: JobCall, next: () => Promise<JobAnswer>): Promise<JobAnswer> {
    told.push(`inner ${call.job.kind} of ${call.source}`);
    return next();
  }
}

@InterceptJobs({ only: [Send] })
class Outer implements JobInterceptor<typeof Send> {
  constructor(readonly unitOfWork: UnitOfWork) {}

  async intercept(call: JobCall<typeof Send>, next: () => Promise<JobAnswer>): Promise<JobAnswer> {
    told.push(`outer ${call.job.payload.to}`);
    return next();
  }
}

@Injectable()
class Bell {
  readonly rung: string[] = [];
  constructor(private readonly jobs: JobQueue) {}

  @OnJobEvent('job.dead_lettered', Lose)
  async lost({ run }: EventOf<'job.dead_lettered'>): Promise<void> {
    const { id } = await this.jobs.enqueue(Send, { to: `operator about ${run.kind}` }, { in: 'own' });
    this.rung.push(id);
  }

  @OnJobEvent('runner.stopped')
  stopped(): void {
    told.push('stopped');
    throw new Error('nobody minds');
  }
}

describe('Handlers, interceptors and listeners of an application', () => {
  let database: Database;
  let db: TestDatabase;
  let events: QueueEvent[];
  const opened: TestingModule[] = [];

  const start = async (metadata: ModuleMetadata) => {
    const queue = QueueModule.forRoot({
      database,
      reporter: { report: (event) => void events.push(event) },
      roles: ['run'],
      run: { slots: 2 },
    });
    const app = await Test.createTestingModule({
      ...metadata,
      imports: [queue, ...(metadata.imports ?? [])],
    }).compile();
    app.useLogger(false);
    opened.push(app);
    return app.init();
  };
  const done = async (app: TestingModule, to: string) => {
    const { id } = await app.get(JobQueue).enqueue(Send, { to }, { in: 'own' });
    await untilState(db, id, 'SUCCEEDED');
  };

  beforeAll(async () => {
    db = await createTestDatabase();
    database = pgPool(db.pool());
  });
  beforeEach(() => {
    events = [];
    told.length = 0;
  });
  afterEach(async () => {
    // NestJS 11 rejects a close with the error of a start that failed.
    for (const app of opened.splice(0)) await app.close().catch(() => undefined);
  });
  afterAll(() => db.drop());

  it('R20: a request-scoped handler is made for each job, with the very job as REQUEST', async () => {
    const app = await start({ providers: [SendHandler, Recipient] });
    await Promise.all(['a', 'b', 'c'].map((to) => done(app, to)));
    expect([...told].sort()).toEqual(['send a', 'send b', 'send c']);
  });

  it('R20: interceptors of any module stand around it, by their order, each for its definitions', async () => {
    @Module({ providers: [Inner] })
    class InnerModule {}
    const app = await start({ imports: [InnerModule], providers: [SendHandler, Recipient, LoseHandler, Outer] });
    await done(app, 'a');
    expect(told).toEqual(['outer a', 'inner mail.send of SendHandler (in RootTestModule)', 'send a']);
    told.length = 0;
    const { id } = await app.get(JobQueue).enqueue(Lose, {}, { in: 'own' });
    await untilState(db, id, 'DEAD_LETTER');
    expect(told).toEqual(['inner mail.lose of LoseHandler (in RootTestModule)']);
  });

  it('R20: a listener is called after the commit, and may enqueue; it hears the end, and its errors are reported', async () => {
    const app = await start({ providers: [SendHandler, Recipient, LoseHandler, Bell] });
    const { events: stream } = app.get(Runner);
    const sent = stream.next('job.completed', { where: ({ run }) => run.kind === 'mail.send', withinMs: 30_000 });
    const { id } = await app.get(JobQueue).enqueue(Lose, {}, { in: 'own' });
    await untilState(db, id, 'DEAD_LETTER');
    const { run } = await sent;
    expect(app.get(Bell).rung).toEqual([run.id]);
    expect(told).toEqual(['send operator about mail.lose']);
    await app.close();
    expect(told.at(-1)).toBe('stopped');
    expect(events.find(({ type: kind }) => kind === 'listener.failed')).toMatchObject({
      event: 'runner.stopped',
      listener: 'stopped of Bell (in RootTestModule)',
    });
  });

  it('R20: a handler that cannot be made for a job refuses the start and names the chain', async () => {
    @Injectable({ durable: true, scope: Scope.REQUEST })
    class RequestScopedThing {}
    @Injectable()
    class Repository {
      constructor(readonly thing: RequestScopedThing) {}
    }
    @JobHandler(Rare)
    class Handler {
      constructor(readonly repository: Repository) {}
      async run(): Promise<void> {}
    }
    const failed = start({ providers: [Handler, Repository, RequestScopedThing] });
    await expect(failed).rejects.toBeInstanceOf(InvalidHandlerError);
    await expect(failed).rejects.toThrow('Handler → Repository → RequestScopedThing');
  });

  it('names all mistakes at once when it does not start', async () => {
    @Module({ providers: [LoseHandler] })
    class One {}
    @Module({ providers: [LoseHandler] })
    class Two {}
    @JobHandler(Rare)
    @Injectable({ scope: Scope.TRANSIENT })
    class Passing {
      async run(): Promise<void> {}
    }
    const failed = start({ imports: [One, Two], providers: [Passing] });
    await expect(failed).rejects.toBeInstanceOf(HandlerMistakesError);
    await expect(failed).rejects.toThrow(/Passing[^]*LoseHandler \(in One\) and LoseHandler \(in Two\)/);
  });

  it('a marked class that no module lists is named where nothing runs, and at the start of what does', async () => {
    const Forgotten = defineJob('mail.forgotten', { payload: type<object>() });
    @JobHandler(Forgotten)
    class ForgottenHandler {
      async run(): Promise<void> {}
    }
    expect(ForgottenHandler).toBeDefined();
    const nothing = start({});
    await expect(nothing).rejects.toBeInstanceOf(NoHandlersError);
    await expect(nothing).rejects.toThrow(
      /no module lists .*ForgottenHandler @JobHandler\(mail\.forgotten\).* under its providers/,
    );
    await start({ providers: [LoseHandler] });
    const started = events.find((event): event is EventOf<'runner.started'> => event.type === 'runner.started');
    expect(started?.warnings.join()).toContain('ForgottenHandler @JobHandler(mail.forgotten)');
  });
});
