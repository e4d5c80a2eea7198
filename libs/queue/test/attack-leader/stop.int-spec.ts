import { TcpProxy, waitFor, within } from '@holdfast/testing';
import { SchedulerStand } from '../scheduler/scheduler.stand.js';

/** Whatever follows from the tick is longer than any of these tests waits. */
const TICK_MS = 3_600_000;
const STOP_WITHIN_MS = 20_000;

describe('a scheduler that is stopped while the database does not answer', () => {
  let proxy: TcpProxy;
  let stand: SchedulerStand;

  beforeAll(async () => (stand = await SchedulerStand.open({ stopWaitMs: 100, tickMs: TICK_MS })));
  beforeEach(async () => (proxy = await TcpProxy.open(stand.db.url)));
  afterEach(async () => {
    await stand.end();
    await proxy.close();
  });
  afterAll(() => stand.close());

  it('R17: the stop does not wait for the connecting, which may take half a tick; nothing is left', async () => {
    proxy.freeze('both');
    const test = stand.scheduler({ url: proxy.url });
    await test.scheduler.start();
    await waitFor(() => proxy.connected > 0, { what: 'it to connect' });
    await within(test.scheduler.stop(), STOP_WITHIN_MS, 'the stop');
    expect(test.all('scheduler.stopped')).toHaveLength(1);
    expect(test.all('scheduler.failed')).toEqual([]);
    await test.leadership.close();
    proxy.pass();
    await waitFor(() => proxy.connected === 0, { what: 'the connection to be given up' });
  });

  it('R17: the stop does not wait for the answer to what a duty began', async () => {
    const test = stand.scheduler(
      { url: proxy.url },
      { every: '1h', name: 'is.frozen', run: () => proxy.freeze('both') },
    );
    await test.scheduler.start();
    await test.seen('duty.started', ({ name }) => name === 'is.frozen');
    await within(test.scheduler.stop(), STOP_WITHIN_MS, 'the stop');
    expect(test.all('leader.released')).toHaveLength(1);
  });

  it('L1: a candidate that is released while it connects can stand again', async () => {
    proxy.freeze('both');
    const test = stand.scheduler({ url: proxy.url });
    const candidate = test.leadership.candidate('again', { tickMs: TICK_MS });
    const acquiring = candidate.acquire();
    await candidate.release();
    await expect(acquiring).resolves.toBe(false);
    const again = candidate.acquire();
    proxy.pass();
    await expect(again).resolves.toBe(true);
    await candidate.release();
    await waitFor(() => proxy.connected === 0, { what: 'the session to end' });
  });
});
