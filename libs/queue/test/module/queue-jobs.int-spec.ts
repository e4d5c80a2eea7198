import 'reflect-metadata';
import { pgPool, UnitOfWork } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import { Test, type TestingModule } from '@nestjs/testing';
import {
  createQueue,
  defineJob,
  JobHandler,
  JobQueue,
  Jobs,
  PermanentError,
  QueueModule,
  type QueueModuleOptions,
  SilentReporter,
  type,
} from '../../src/index.js';
import { untilState } from './probe.js';

const Send = defineJob('mail.send', { payload: type<{ to: string }>() });

@JobHandler(Send)
class SendHandler {
  static broken = true;
  run(): Promise<void> {
    return SendHandler.broken ? Promise.reject(new PermanentError('mail.broken')) : Promise.resolve();
  }
}

describe('Jobs in an application', () => {
  let app: TestingModule | undefined;
  let db: TestDatabase;

  beforeEach(async () => {
    db = await createTestDatabase();
    SendHandler.broken = true;
  });
  afterEach(async () => {
    await app?.close();
    await db.drop();
  });

  const start = async (options: Partial<QueueModuleOptions>, providers: (typeof SendHandler)[] = []) => {
    const module = QueueModule.forRoot({ database: pgPool(db.pool()), ...options });
    app = await Test.createTestingModule({ imports: [module], providers }).compile();
    app.useLogger(false);
    await app.init();
    return app;
  };

  it('A1: every verb works in a process that only enqueues, and joins no unit of work', async () => {
    const { jobs, queue, unitOfWork } = partsOf(
      await start({ redactPayload: (_job, payload) => ({ ...(payload as object), to: '…' }), roles: ['enqueue'] }),
    );
    const { id } = await queue.enqueue(Send, { to: 'somebody' }, { in: 'own', runIn: '1h' });
    expect(await jobs.payload(id)).toMatchObject({ payload: { to: '…' } });
    const rolledBack = unitOfWork.run(async () => {
      await jobs.runNow(id);
      await jobs.pauseKind(Send.kind);
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    expect((await jobs.find(id))!.dueAt.getTime()).toBeLessThan(Date.now() + 600_000);
    expect(await jobs.pausedKinds()).toMatchObject([{ kind: Send.kind }]);
    expect((await jobs.list({ kind: Send.kind })).jobs).toMatchObject([{ id, state: 'PENDING' }]);
    await db.adminQuery('UPDATE holdfast.job SET state = 4, finished_at = now()');
    expect(await jobs.requeue(id)).toBe(id);
    expect(await jobs.delete(id)).toBe(id);
    expect(await jobs.purge({ olderThan: '0s', state: 'DEAD_LETTER' })).toEqual({ deleted: 0, more: false });
  });

  it('A1: what is requeued, resumed or to run now where it runs is looked for at once, without waiting for the poll', async () => {
    const parts = await start({ reporter: new SilentReporter(), roles: ['run'], run: { poll: '1h', slots: 2 } }, [
      SendHandler,
    ]);
    const { jobs, queue } = partsOf(parts);
    const { id } = await queue.enqueue(Send, { to: 'somebody' }, { in: 'own' });
    await untilState(db, id, 'DEAD_LETTER');
    SendHandler.broken = false;
    await jobs.requeue(id);
    await untilState(db, id, 'SUCCEEDED');
    const later = await queue.enqueue(Send, { to: 'somebody' }, { in: 'own', runIn: '1h' });
    await jobs.runNow(later.id);
    await untilState(db, later.id, 'SUCCEEDED');
    await jobs.pauseKind(Send.kind);
    const paused = await queue.enqueue(Send, { to: 'somebody' }, { in: 'own' });
    await jobs.resumeKind(Send.kind);
    await untilState(db, paused.id, 'SUCCEEDED');
  });

  it('A1: a queue without NestJS has them as lookup', async () => {
    const queue = createQueue({ database: pgPool(db.pool()), redactPayload: (_job, payload) => payload });
    const { id } = await queue.jobs.enqueue(Send, { to: 'somebody' }, { in: 'own' });
    expect((await queue.lookup.payload(id)).payload).toEqual({ to: 'somebody' });
    expect((await queue.lookup.list()).jobs.map((job) => job.id)).toEqual([id]);
    await queue.close();
  });

  const partsOf = (module: TestingModule) => ({
    jobs: module.get(Jobs),
    queue: module.get(JobQueue),
    unitOfWork: module.get(UnitOfWork),
  });
});
