import 'reflect-metadata';
import { pgPool } from '@holdfast/kernel';
import { createEmptyDatabase, type TestDatabase } from '@holdfast/testing';
import { Module } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { typeOrm } from '@holdfast/kernel/typeorm';
import { DataSource } from 'typeorm';
import {
  type AttachedContext,
  defineJob,
  JobHandler,
  type JobOf,
  JobQueue,
  QueueModule,
  Runner,
  type,
} from '../../src/index.js';
import { drain, expectEnqueued, QueueTestingModule, runHandler } from '../../src/testing/index.js';

const Note = defineJob('note.write', { payload: type<{ text: string }>() });

@JobHandler(Note)
class NoteHandler {
  run = async (job: JobOf<typeof Note>, ctx: AttachedContext) => {
    await ctx.tx.manager.query('INSERT INTO note VALUES ($1)', [job.payload.text]);
  };
}

describe('QueueTestingModule', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createEmptyDatabase();
    await db.adminQuery('CREATE TABLE note (text text)');
  });
  afterAll(() => db.drop());

  const schemas = async () =>
    (
      await db.adminQuery<{ name: string }>("SELECT nspname AS name FROM pg_namespace WHERE nspname LIKE 'holdfast%'")
    ).map(({ name }) => name);

  it('override: an application as it is, in a schema of its own that goes with it, its runner standing still', async () => {
    @Module({
      imports: [
        TypeOrmModule.forRoot({ type: 'postgres', url: db.url, poolSize: 4 }),
        QueueModule.forRootAsync({
          inject: [DataSource],
          useFactory: (dataSource: DataSource) => ({
            database: typeOrm(dataSource),
            run: { slots: 2 },
            schema: 'shop',
          }),
        }),
      ],
      providers: [NoteHandler],
    })
    class AppModule {}
    const compile = () =>
      QueueTestingModule.override(Test.createTestingModule({ imports: [AppModule] }), { schema: 'own' }).compile();
    const [one, two] = await Promise.all([compile(), compile()]);
    await Promise.all([one.init(), two.init()]);
    expect(await schemas()).toHaveLength(2);
    expect(one.get(Runner, { strict: false }).vitals.state).toBe('idle');
    await one.get(JobQueue, { strict: false }).enqueue(Note, { text: 'one' }, { in: 'own' });
    await expectEnqueued(Note, { text: 'one' }, { in: one });
    await expectEnqueued(Note, undefined, { in: two, times: 0 });
    expect((await drain(two)).ended).toEqual([]);
    expect((await drain(one)).ended).toMatchObject([{ kind: 'note.write', result: 'completed' }]);
    expect(await db.adminQuery('SELECT * FROM note')).toEqual([{ text: 'one' }]);
    await Promise.all([one.close(), two.close()]);
    expect(await schemas()).toEqual([]);
    expect(await db.adminQuery("SELECT 1 FROM pg_namespace WHERE nspname = 'shop'")).toEqual([]);
  });

  it('override: what the test gives wins, and the checks of the options are the same', async () => {
    const app = { database: pgPool(db.pool({ max: 2 })), run: { slots: 2 } };
    const build = () => Test.createTestingModule({ imports: [QueueModule.forRoot(app)], providers: [NoteHandler] });
    const started = await QueueTestingModule.override(build(), { autoStart: true, schema: 'own' }).compile();
    await started.init();
    expect(started.get(Runner, { strict: false }).vitals.slots).toBe(2);
    expect(started.get(Runner, { strict: false }).vitals.state).toBe('running');
    await started.close();
    const wrong = QueueTestingModule.override(build(), { run: { slots: 0 } }).compile();
    await expect(wrong).rejects.toThrow(/slots must be a whole number/);
  });

  it('forRoot: a queue for a test of a few providers; a start that fails leaves no schema', async () => {
    const database = pgPool(db.pool({ max: 2 }));
    const app: TestingModule = await Test.createTestingModule({
      imports: [QueueTestingModule.forRoot({ database, schema: 'own' })],
      providers: [NoteHandler],
    }).compile();
    await app.init();
    const run = await runHandler(app, Note, { text: 'two' }, { attempt: 8 });
    expect(run.error).toBeInstanceOf(TypeError);
    expect(run.state).toBe('DEAD_LETTER');
    await app.close();
    const failing = await Test.createTestingModule({
      imports: [QueueTestingModule.forRoot({ database, schema: 'own' })],
      providers: [
        NoteHandler,
        { provide: 'wrong', useValue: { onModuleInit: () => Promise.reject(new Error('not today')) } },
      ],
    }).compile();
    await expect(failing.init()).rejects.toThrow('not today');
    await failing.close().catch(() => undefined);
    const alone = Test.createTestingModule({
      imports: [QueueTestingModule.forRoot({ database, roles: ['enqueue'], schema: 'own' })],
    });
    const producer = await alone.compile();
    await producer.init();
    await expect(runHandler(producer, Note, { text: 'x' })).rejects.toThrow(/runs no jobs/);
    await producer.close();
    expect(await schemas()).toEqual([]);
  });
});
