import { pgPool } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase, waitFor } from '@holdfast/testing';
import { Client } from 'pg';
import { createQueue, defineJob, type } from '../../src/core.js';

const Send = defineJob('mail.send', { payload: type<object>() });
/** Everything is so many times as fast as it is by default. */
const SCALE = 10;
const WINDOW_MS = 6_000;
const PRESENCE_EVERY_MS = 15_000;

describe('An idle process with a runner and a scheduler that leads', () => {
  let db: TestDatabase;

  beforeAll(async () => (db = await createTestDatabase()));
  afterAll(() => db.drop());

  it('P8: sends less than two statements a second, BEGIN, COMMIT and the proofs of leadership included', async () => {
    const sent = jest.spyOn(Client.prototype, 'query');
    const queue = createQueue({
      database: pgPool(db.pool()),
      run: { pollMs: 2_000 / SCALE, slots: 2 },
      schedule: { depthMs: 30_000 / SCALE, tickMs: 10_000 / SCALE, unhandledMs: 60_000 / SCALE },
    });
    queue.handle(Send, { run: () => Promise.resolve() });
    await queue.start();
    await queue.scheduler.events.next('duty.done', { where: ({ name }) => name === 'queue.unhandled_kinds' });
    const before = sent.mock.calls.length;
    const startedAt = performance.now();
    await waitFor(() => performance.now() - startedAt >= WINDOW_MS, {
      deadlineMs: 4 * WINDOW_MS,
      what: 'the window to pass',
    });
    const count = sent.mock.calls.length - before;
    const seconds = ((performance.now() - startedAt) * SCALE) / 1_000;
    await queue.close();
    sent.mockRestore();
    const aSecond = count / seconds + 1_000 / PRESENCE_EVERY_MS;
    expect(aSecond).toBeGreaterThan(0.5);
    expect(aSecond).toBeLessThan(2);
  });
});
