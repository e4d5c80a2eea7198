import 'reflect-metadata';
import { type Database, pgPool } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase, waitFor } from '@holdfast/testing';
import { Controller, Injectable, Module, type ModuleMetadata, Scope } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import {
  createQueue,
  defineJob,
  DutyLedger,
  type DutyContext,
  EventStream,
  InvalidDutyError,
  JobHandler,
  LeaderDuty,
  Leadership,
  LeadershipHealthIndicator,
  QueueModule,
  type QueueModuleOptions,
  Runner,
  Scheduler,
  type ScheduleOptions,
  type RunnerEvent,
  type QueueEvent,
  type,
} from '../../src/index.js';

const Send = defineJob('mail.send', { payload: type<object>() });

@JobHandler(Send)
class SendHandler {
  run(): Promise<void> {
    return Promise.resolve();
  }
}

@Injectable()
class Reports {
  runs = 0;

  @LeaderDuty({ name: 'report.sweep', every: '300ms', deadline: '10s' })
  async sweep(ctx: DutyContext): Promise<void> {
    await ctx.transaction((executor) => executor.query('SELECT 1'));
    this.runs += 1;
  }
}

@Injectable()
class Rival {
  @LeaderDuty({ name: 'report.sweep', every: '1h' })
  sweep(): void {
    throw new Error('It is never started.');
  }
}

@Injectable({ scope: Scope.REQUEST })
class PerRequest {
  @LeaderDuty({ name: 'report.each', every: '1h' })
  each(): void {
    throw new Error('It is never started.');
  }
}

class Forgotten {
  @LeaderDuty({ name: 'report.forgotten', every: '1h' })
  sweep(): void {
    throw new Error('It is never started.');
  }
}

@Controller()
class Routes {
  @LeaderDuty({ name: 'report.route', every: '1h' })
  route(): void {
    throw new Error('It is never started.');
  }
}

@Module({ providers: [Reports], exports: [Reports] })
class ReportsModule {}

@Module({ providers: [Rival] })
class RivalModule {}

describe('QueueModule with the role schedule', () => {
  let database: Database;
  let db: TestDatabase;
  const opened: TestingModule[] = [];
  const schedule: ScheduleOptions = { leadership: 'always', tickMs: 200 };

  const start = async (
    options: Partial<QueueModuleOptions>,
    metadata: ModuleMetadata = {},
  ): Promise<{ app: TestingModule; events: EventStream }> => {
    const events = new EventStream();
    const queue = QueueModule.forRoot({ database, reporter: events, schedule, ...options });
    const module = { ...metadata, imports: [...(metadata.imports ?? []), queue] };
    const app = await Test.createTestingModule(module).compile();
    app.useLogger(false);
    opened.push(app);
    await app.init();
    return { app, events };
  };
  const connections = async () =>
    (await db.backends()).filter(({ application_name }) => application_name.startsWith('holdfast'));
  const present = () =>
    db.adminQuery<{ kinds: string[]; owner: string }>('SELECT owner, kinds FROM holdfast.runner_presence');

  beforeAll(async () => {
    db = await createTestDatabase();
    database = pgPool(db.pool());
  });
  afterEach(async () => {
    for (const app of opened.splice(0)) await app.close().catch(() => undefined);
    await waitFor(async () => (await connections()).length === 0, { what: "the queue's own connections to close" });
    await db.adminQuery('TRUNCATE holdfast.leader_duty, holdfast.runner_presence');
  });
  afterAll(() => db.drop());

  it('S3: a method with @LeaderDuty runs in a process that leads, which needs no handler; any process reads its last run', async () => {
    const { app } = await start({ roles: ['schedule'] }, { imports: [ReportsModule] });
    await waitFor(() => app.get(Reports).runs >= 2, { what: 'two runs' });
    expect(app.get(Scheduler).isLeader).toBe(true);
    expect(app.get(Leadership).connections).toEqual({});
    const health = (await app.get(LeadershipHealthIndicator).check('leadership'))['leadership'];
    expect(health).toMatchObject({ status: 'up' });
    expect(() => app.get(Runner)).toThrow();

    const { app: api } = await start({ roles: ['enqueue'] });
    expect(() => api.get(Scheduler)).toThrow();
    expect(await api.get(DutyLedger).lastRuns()).toEqual(
      expect.arrayContaining([expect.objectContaining({ everyMs: 300, failures: 0, name: 'report.sweep' })]),
    );
  });

  it('S3: a class with @LeaderDuty that no module provides is warned of where duties would run, with or without the role run', async () => {
    const forgotten = 'Forgotten @LeaderDuty(report.forgotten)';
    for (const roles of [['schedule'], ['run', 'schedule']] as const) {
      const { app, events } = await start({ autoStart: false, roles }, { providers: [SendHandler] });
      const told = events.next('scheduler.started');
      await app.get(Scheduler).start();
      expect((await told).warnings.join()).toContain(forgotten);
    }
    const { app, events } = await start({ autoStart: false, roles: ['run'] }, { providers: [SendHandler] });
    const told = events.next('runner.started');
    await app.get(Runner).start();
    expect((await told).warnings.join()).not.toContain(forgotten);
    expect(Forgotten).toBeDefined();
  });

  it('S3: without the role a process stands for nothing and runs no duty', async () => {
    const { app } = await start({ roles: ['run'] }, { imports: [ReportsModule], providers: [SendHandler] });
    await app.get(Runner).events.next('claim.answered');
    expect(() => app.get(Scheduler)).toThrow();
    expect(await db.adminQuery('SELECT 1 FROM holdfast.leader_duty')).toEqual([]);
  });

  it('S6, R19: a runner is on the roster while it is there, and the sum at its start names the connection of leadership', async () => {
    const started: RunnerEvent[] = [];
    const reporter = { report: (event: QueueEvent) => void (event.type === 'runner.started' && started.push(event)) };
    const { app } = await start(
      { reporter, run: { owner: 'the test', slots: 2 }, schedule: { tick: '1s' } },
      { providers: [SendHandler] },
    );
    await waitFor(async () => (await present()).length === 1, { what: 'the runner on the roster' });
    expect(await present()).toEqual([{ kinds: ['mail.send'], owner: 'the test' }]);
    expect(started).toMatchObject([{ connections: expect.arrayContaining([{ connections: 1, role: 'leadership' }]) }]);
    await app.close();
    expect(await present()).toEqual([]);
  });

  it('L2, S3: two applications in one process: one leads, and when it closes the other does at its next tick', async () => {
    const locked = { roles: ['schedule'], schedule: { tick: '1s' } } as const;
    const first = await start(locked, { imports: [ReportsModule] });
    await waitFor(() => first.app.get(Scheduler).isLeader, { what: 'the first to lead' });
    const second = await start(locked, { imports: [ReportsModule] });
    await second.events.next('scheduler.tick', { withinMs: 20_000 });
    expect(second.app.get(Scheduler).isLeader).toBe(false);
    const released = second.events.next('leader.elected', { withinMs: 20_000 });
    await first.app.close();
    await released;
    const runs = second.app.get(Reports).runs;
    await waitFor(() => second.app.get(Reports).runs > runs, { what: 'a run in the second' });
    await expect(first.app.get(Scheduler).start()).rejects.toMatchObject({ code: 'queue.closed' });
  });

  it('S3: two duties of one name fail the start, by method, class and module', async () => {
    const starting = start({ roles: ['schedule'] }, { imports: [ReportsModule, RivalModule] });
    await expect(starting).rejects.toMatchObject({
      code: 'queue.duplicate_duty',
      duty: 'report.sweep',
      sources: ['sweep of Reports (in ReportsModule)', 'sweep of Rival (in RivalModule)'],
    });
  });

  it('S3: every duty that cannot be called is named: a request-scoped one, one on a controller', async () => {
    const starting = start({ roles: ['schedule'] }, { controllers: [Routes], providers: [PerRequest] });
    await expect(starting).rejects.toMatchObject({ code: 'queue.handler_mistakes' });
    const error = await starting.catch((thrown: Error) => thrown);
    expect((error as Error).message).toMatch(/PerRequest.*request-scoped/s);
    expect((error as Error).message).toMatch(/Routes.*controller/s);
  });

  it('S3: a misplaced decorator and options that are wrong are refused where they are written', () => {
    const on =
      (options: object, target: object = Reports.prototype, name = 'sweep') =>
      () =>
        LeaderDuty(options as never)(target, name, Object.getOwnPropertyDescriptor(target, name) as never);
    const good = { every: '1h', name: 'report.x' };
    class WithStatic {
      static sweep(): void {
        throw new Error('It is never started.');
      }
      readonly field = 1;
    }
    expect(on(good, WithStatic)).toThrow(InvalidDutyError);
    expect(on(good, WithStatic.prototype, 'field')).toThrow(/WithStatic\.field.*no method/);
    expect(on({ ...good, name: 'Report X' })).toThrow(/name.*Report X/);
    expect(on({ ...good, every: '10' })).toThrow(/its every/);
    expect(on({ name: 'report.x' })).toThrow(/its every/);
    expect(on({ ...good, every: '1ms' })).toThrow(/at least 100ms/);
    expect(on({ ...good, deadline: 5 })).toThrow(/its deadline/);
    expect(on({ ...good, cron: '* * * * *' })).toThrow(/cron is no option/);
  });

  it('S1: mistakes of the option schedule are told with all others', async () => {
    const wrong = { leadership: 'zookeeper', tick: 'soon', tickk: 1 } as unknown as ScheduleOptions;
    await expect(start({ schema: '', schedule: wrong })).rejects.toMatchObject({
      code: 'queue.invalid_options',
      problems: expect.arrayContaining([
        expect.stringContaining('schema'),
        expect.stringContaining('schedule.leadership must be one of'),
        expect.stringContaining('schedule.tick:'),
        expect.stringContaining('schedule: tickk is no option'),
      ]),
    });
  });

  it('S3: a queue without Nest has duties too, with a handler and without', async () => {
    const events = new EventStream();
    const queue = createQueue({ database, reporter: events, schedule: { leadership: 'always', tickMs: 200 } });
    let runs = 0;
    queue.duty({ name: 'report.sweep', every: '200ms' }, () => void runs++);
    expect(() => queue.duty({ name: 'report.sweep', every: '1h' }, () => undefined)).toThrow(
      expect.objectContaining({ code: 'queue.duplicate_duty' }),
    );
    await queue.start();
    await waitFor(() => runs >= 3, { what: 'three runs' });
    expect(() => queue.duty({ name: 'report.late', every: '1h' }, () => undefined)).toThrow(/before start/);
    expect((await queue.scheduler.lastRuns()).map(({ name }) => name)).toContain('report.sweep');
    expect(queue.runner.vitals.state).toBe('idle');
    await queue.close();
    await expect(queue.scheduler.start()).rejects.toMatchObject({ code: 'queue.closed' });
  });
});
