import { createTestDatabase, PgBouncer, type TestDatabase, waitFor, within } from '@holdfast/testing';
import { Gate } from '../runner.stand.js';
import { Note, Runs, WakingStand } from './waking.stand.js';

/** The poll of everybody here is an hour away: whatever runs was woken. */
describe('Waking', () => {
  let db: TestDatabase;
  let stand: WakingStand;

  beforeAll(async () => {
    db = await createTestDatabase();
    stand = new WakingStand(db);
  });
  afterEach(async () => {
    await stand.close();
    await db.adminQuery('TRUNCATE holdfast.job, holdfast.job_request');
  });
  afterAll(() => db.drop());

  it('Q10: while every slot is taken nobody is notified, and then once; a transaction that was rolled back notifies nobody', async () => {
    const gate = new Gate();
    await stand.handling(() => gate.pass(), { run: { slots: 1 } });
    const { jobs, unitOfWork } = stand.queue();
    const { channels, flush } = await stand.heard();
    await stand.idle();
    const undone = unitOfWork.run(async () => {
      await jobs.enqueue(Note, { n: 0 });
      throw new Error('no');
    });
    await expect(undone).rejects.toThrow('no');
    await flush();
    expect(channels).toHaveLength(0);
    await jobs.enqueue(Note, { n: 1 }, { in: 'own' });
    await within(gate.reached, 10_000, 'the job to start');
    await stand.unheld();
    await flush();
    expect(channels).toHaveLength(1);
    for (let n = 2; n < 100; n++) await jobs.enqueue(Note, { n }, { in: 'own' });
    await flush();
    expect(channels).toHaveLength(1);
    gate.open();
  });

  it('Q10: a transaction notifies once, whatever it enqueues; what is due later notifies nobody', async () => {
    const runs = new Runs();
    await stand.handling(runs.run, { run: { slots: 2 } });
    const { jobs, unitOfWork } = stand.queue();
    const { channels, flush } = await stand.heard();
    await stand.idle();
    const runIn = '1h';
    await jobs.enqueue(Note, { n: 0 }, { in: 'own', runIn });
    await jobs.enqueue(Note, { n: 0 }, { dedupeKey: 'later', in: 'own', runIn });
    await flush();
    expect(channels).toHaveLength(0);
    await unitOfWork.run(async () => {
      await jobs.enqueueMany(Array.from({ length: 50 }, (_, n) => Note.request({ n })));
      await jobs.enqueue(Note, { n: 50 });
    });
    await within(Promise.all(Array.from({ length: 51 }, (_, n) => runs.of(n))), 20_000, 'all of them to run');
    await flush();
    expect(channels).toHaveLength(1);
  });

  it('Q10: under a flood a consumer that keeps up is not notified of every commit', async () => {
    const runs = new Runs();
    await stand.handling(runs.run, { pool: 10, run: { slots: 8 } });
    const { jobs } = stand.queue();
    const { channels, flush } = await stand.heard();
    await stand.idle();
    for (let n = 0; n < 1_000; n++) await jobs.enqueue(Note, { n }, { in: 'own' });
    await within(Promise.all(Array.from({ length: 1_000 }, (_, n) => runs.of(n))), 30_000, 'all of them to run');
    await flush();
    expect(channels.length).toBeLessThan(200);
  });

  it('Q10: no commit is lost between the last look and the nap, in many rounds', async () => {
    const runs = new Runs();
    await stand.handling(runs.run, { run: { slots: 1 } });
    const { jobs } = stand.queue();
    await stand.idle();
    // Each comes in the moment in which the consumer becomes idle again, now and then a little later.
    for (let n = 0; n < 300; n++) {
      await jobs.enqueue(Note, { n }, { in: 'own' });
      await within(runs.of(n), 10_000, `the job of round ${n} to start`);
      if (n % 3 === 0) await stand.doors();
    }
  });

  it('Q10: a key that makes a job by intake, and one whose job is running, start at once', async () => {
    const gate = new Gate();
    const runs = new Runs();
    await stand.handling(
      async (job, ctx) => {
        await runs.run(job, ctx);
        if (job.payload.n === 1) await gate.pass();
      },
      { run: { slots: 2 } },
    );
    const { jobs, unitOfWork } = stand.queue();
    await stand.idle();
    const appended = await unitOfWork.run(() => jobs.enqueue(Note, { n: 1 }, { dedupeKey: 'one' }), {
      isolation: 'REPEATABLE READ',
    });
    expect(appended.disposition).toBe('requested');
    await within(gate.reached, 10_000, 'the job of the request');
    await jobs.enqueue(Note, { n: 2 }, { dedupeKey: 'one', in: 'own' });
    gate.open();
    await within(runs.of(2), 10_000, 'the job that waited for the run');
  });

  it('Q10: a retry, a repeat and a deferral of this process are looked for when they are due, long before the poll', async () => {
    const seen: string[] = [];
    const over = new Gate();
    await stand.handling((job) => {
      seen.push(`${job.payload.n}.${job.attempt}`);
      if (job.payload.n === 1 && job.attempt === 1) throw new Error('again');
      if (seen.length === 2) over.open();
      return Promise.resolve();
    });
    await stand.idle();
    await stand.queue().jobs.enqueue(Note, { n: 1 }, { in: 'own' });
    await within(over.opened, 10_000, 'the retry');
    expect(seen).toEqual(['1.1', '1.2']);
  });

  it("Q10: notifications: 'off' opens no listener and notifies nobody, and the poll finds everything", async () => {
    const runs = new Runs();
    const consumer = await stand.handling(runs.run, { notifications: 'off', run: { poll: '50ms' } });
    const { jobs, unitOfWork } = stand.queue();
    const { channels, flush } = await stand.heard();
    await jobs.enqueue(Note, { n: 1 }, { in: 'own' });
    await unitOfWork.run(() => jobs.enqueue(Note, { n: 2 }, { dedupeKey: 'two' }), { isolation: 'REPEATABLE READ' });
    await within(Promise.all([runs.of(1), runs.of(2)]), 10_000, 'both to run');
    await flush();
    expect(channels).toHaveLength(0);
    expect(await stand.listeners()).toHaveLength(0);
    expect(consumer.runner.vitals.waking).toBeUndefined();
    expect(stand.events.find(({ type }) => type === 'runner.started')).toMatchObject({
      connections: expect.not.arrayContaining([expect.objectContaining({ role: 'listener' })]) as unknown,
    });
  });

  it('R19: the line at the start counts the listener; runners of one process share it, and it ends with the last', async () => {
    const first = await stand.handling(() => Promise.resolve());
    const second = await stand.handling(() => Promise.resolve());
    expect(stand.events.find(({ type }) => type === 'runner.started')).toMatchObject({
      connections: expect.arrayContaining([{ connections: 1, role: 'listener' }]) as unknown,
    });
    await waitFor(() => second.runner.vitals.waking?.state === 'listening', { what: 'both to listen' });
    await stand.idle();
    expect(await stand.listeners()).toHaveLength(1);
    await first.close();
    expect(second.runner.vitals.waking?.state).toBe('listening');
    await stand.idle();
    await second.close();
    await waitFor(async () => (await stand.listeners()).length === 0, { what: 'the listener to end' });
  });

  it('K105: behind a pooler in transaction mode it polls, and says why', async () => {
    const pooler = await PgBouncer.start(db.url, { poolMode: 'transaction' });
    try {
      const runs = new Runs();
      const consumer = await stand.handling(runs.run, { directUrl: pooler.url, run: { poll: '100ms' } });
      await waitFor(() => consumer.runner.vitals.waking?.state === 'polling', { what: 'the listener to give up' });
      const error = consumer.runner.vitals.waking?.error;
      expect(error).toMatchObject({
        cause: { code: 'kernel.deaf_listener', message: expect.stringContaining('directUrl') as string },
      });
      await stand.queue().jobs.enqueue(Note, { n: 1 }, { in: 'own' });
      await within(runs.of(1), 10_000, 'the poll to find it');
      expect(stand.events.filter(({ type }) => type === 'waking.lost')).toHaveLength(1);
      await stand.close();
    } finally {
      await pooler.close();
    }
  });

  it('K105: behind a pooler in session mode it listens', async () => {
    const pooler = await PgBouncer.start(db.url, { poolMode: 'session', poolSize: 20 });
    try {
      const runs = new Runs();
      await stand.handling(runs.run, { directUrl: pooler.url });
      await stand.idle();
      await stand.queue().jobs.enqueue(Note, { n: 1 }, { in: 'own' });
      await within(runs.of(1), 10_000, 'the job to start');
      await stand.close();
    } finally {
      await pooler.close();
    }
  });
});
