import { UnitOfWork } from '@holdfast/kernel';
import type { TestDatabase } from '@holdfast/testing';
import type { TestingModule } from '@nestjs/testing';
import { AmbiguousTransactionError, defineJob, JobQueue, NoTransactionError, type } from '../../src/index.js';

export const Send = defineJob('mail.send', { payload: type<{ to: string }>() });

/** HostedNotes is a provider whose methods carry the decorators of the tool under test. */
export interface HostedNotes {
  /** keep writes a row and enqueues jobs by all verbs, without `in`, in one transaction, after which it fails where it is told to. */
  keep(id: number, fail?: 'fail'): Promise<void>;
  /** keepWithNested does the same, with one transaction inside the other that fails, and is caught. */
  keepWithNested(id: number): Promise<void>;
}

export interface HostedApplication {
  readonly app: TestingModule;
  readonly db: TestDatabase;
  readonly notes: HostedNotes;
}

export const enqueueAll = async (jobs: JobQueue, id: number): Promise<void> => {
  await jobs.enqueue(Send, { to: `${id} plain` });
  await jobs.enqueue(Send, { to: `${id} keyed` }, { dedupeKey: `note ${id}` });
  await jobs.enqueueMany([Send.request({ to: `${id} many 1` }), Send.request({ to: `${id} many 2` })]);
};
const all = (id: number) => ['keyed', 'many 1', 'many 2', 'plain'].map((part) => `${id} ${part}`);

/** proveHost declares the tests that every TransactionHost must pass, with the real tool under NestJS. */
export function proveHost(open: () => Promise<HostedApplication>): void {
  let app: TestingModule;
  let db: TestDatabase;
  let notes: HostedNotes;

  const kept = async () => ({
    jobs: (
      await db.adminQuery<{ to: string } & object>("SELECT payload ->> 'to' AS to FROM holdfast.job ORDER BY 1")
    ).map(({ to }) => to),
    notes: (await db.adminQuery<{ id: number } & object>('SELECT id FROM note ORDER BY id')).map(({ id }) => id),
  });

  beforeAll(async () => {
    ({ app, db, notes } = await open());
  });
  afterEach(() => db.adminQuery('TRUNCATE holdfast.job, holdfast.job_request, note'));
  afterAll(async () => {
    await app.close();
    await db.drop();
  });

  it('T4: jobs without `in` commit with the transaction that the tool has open', async () => {
    await notes.keep(1);
    expect(await kept()).toEqual({ jobs: all(1), notes: [1] });
  });

  it('T4: jobs without `in` vanish with its rollback', async () => {
    await expect(notes.keep(1, 'fail')).rejects.toThrow('undo');
    expect(await kept()).toEqual({ jobs: [], notes: [] });
  });

  it('T4: jobs vanish with a nested transaction that is rolled back, and the rest stays', async () => {
    await notes.keepWithNested(1);
    expect(await kept()).toEqual({ jobs: all(1), notes: [1] });
  });

  it('T4: each of many at once joins its own', async () => {
    const ids = [1, 2, 3, 4, 5, 6, 7, 8];
    await Promise.allSettled(ids.map((id) => notes.keep(id, id % 2 === 0 ? 'fail' : undefined)));
    expect(await kept()).toEqual({ jobs: [1, 3, 5, 7].flatMap(all), notes: [1, 3, 5, 7] });
  });

  it('T4, Q1: where the tool has none open there is none to join, also after one has ended', async () => {
    const jobs = app.get(JobQueue);
    await expect(jobs.enqueue(Send, { to: 'nobody' })).rejects.toThrow(NoTransactionError);
    await notes.keep(1);
    await expect(jobs.enqueue(Send, { to: 'nobody' })).rejects.toThrow(NoTransactionError);
    await jobs.enqueue(Send, { to: 'own' }, { in: 'own' });
    expect((await kept()).jobs).toEqual([...all(1), 'own']);
  });

  it("T4: a unit of work is joined as ever, and where the tool's transaction is open inside it the enqueue must say which", async () => {
    const jobs = app.get(JobQueue);
    const unitOfWork = app.get(UnitOfWork);
    await unitOfWork.run(() => jobs.enqueue(Send, { to: 'unit of work' }));
    await expect(unitOfWork.run(() => notes.keep(1))).rejects.toThrow(AmbiguousTransactionError);
    expect(await kept()).toEqual({ jobs: ['unit of work'], notes: [] });
  });
}
