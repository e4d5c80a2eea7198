import { createTestDatabase, type TestDatabase, waitFor, within } from '@holdfast/testing';
import { Note, Runs, WakingStand } from './waking.stand.js';

/** The poll of everybody here is an hour away: whatever runs was woken. */
describe('Waking reaches', () => {
  let db: TestDatabase;
  let runs: Runs;
  let stand: WakingStand;

  beforeAll(async () => {
    db = await createTestDatabase();
    stand = new WakingStand(db);
  });
  beforeEach(() => {
    runs = new Runs();
  });
  afterEach(async () => {
    await stand.close();
    await db.adminQuery('TRUNCATE holdfast.job, holdfast.job_request');
  });
  afterAll(() => db.drop());

  it.each([7_900, 8_000, 200_000])(
    'K94: a payload of %d bytes and a key of 512 do not travel with it',
    async (bytes) => {
      await stand.handling(runs.run);
      const { flush, sent } = await stand.heard();
      await stand.idle();
      await stand
        .queue()
        .jobs.enqueue(Note, { n: 1, text: 'x'.repeat(bytes) }, { dedupeKey: 'k'.repeat(512), in: 'own' });
      await within(runs.of(1), 10_000, 'the job to start');
      await flush();
      expect(sent).toEqual(['']);
    },
  );

  it('Q9, Q10: a consumer whose job was asked for in SQL', async () => {
    await stand.handling(runs.run);
    await stand.idle();
    await db.adminQuery(`SELECT * FROM holdfast.enqueue('test.note', '{"n": 3}')`);
    await within(runs.of(3), 10_000, 'the job to start');
  });

  it('K98: what is committed between the loss of the listener and its return is found when it listens again', async () => {
    const consumer = await stand.handling(runs.run);
    await waitFor(() => consumer.runner.vitals.waking?.state === 'listening', { what: 'it to listen' });
    await stand.idle();
    const { channels, flush } = await stand.heard();
    for (let n = 0; n < 5; n++) {
      await db.terminateBackends(`application_name = 'holdfast-listener'`);
      await stand.queue().jobs.enqueue(Note, { n }, { in: 'own' });
      await within(runs.of(n), 20_000, `job ${n} to start`);
      await stand.idle();
    }
    await flush();
    expect(channels.length).toBeLessThan(6);
    expect(stand.events.filter(({ type }) => type === 'waking.lost').length).toBeGreaterThan(0);
  });

  it('Q10: a consumer whose enqueuer is SERIALIZABLE, and costs it no serialization failure', async () => {
    await stand.handling(runs.run);
    const { jobs, unitOfWork } = stand.queue();
    for (let n = 10; n < 15; n++) {
      await stand.idle();
      await unitOfWork.run(() => jobs.enqueue(Note, { n }), { isolation: 'SERIALIZABLE' });
      await within(runs.of(n), 10_000, `job ${n} to start`);
    }
  });
});
