import { createEmptyDatabase, TcpProxy, type TestDatabase, waitFor } from '@holdfast/testing';
import { listenAt } from '../src/notify/shared.listeners.js';

const TIMINGS = { deadlineMs: 1_000, firstDelayMs: 20, maxDelayMs: 200, pingEveryMs: 200, stableMs: 1_000 };

describe('the shared listener', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createEmptyDatabase();
  });
  afterAll(() => db.drop());

  const subscriber = () => {
    const heard: string[] = [];
    return {
      heard,
      listening: () => void heard.push('listening'),
      lost: () => void heard.push('lost'),
      notified: (channel: string) => void heard.push(channel),
    };
  };
  const backends = () =>
    db.adminQuery(
      `SELECT FROM pg_stat_activity WHERE application_name = 'holdfast-listener' AND datname = current_database()`,
    );

  it('R19: subscribers of one database share one connection, which ends with the last of them', async () => {
    const [one, two] = [subscriber(), subscriber()];
    const config = () => ({ connectionString: db.url });
    // On a busy machine a ping may take a second: nothing is to be lost here.
    const timings = { ...TIMINGS, deadlineMs: 10_000 };
    const first = listenAt(config, ['One "channel"'], one, timings);
    const second = listenAt(config, ['two'], two, timings);
    await waitFor(() => one.heard.length + two.heard.length === 2, { what: 'both to listen' });
    await db.adminQuery(`SELECT pg_notify('One "channel"', '')`);
    await waitFor(() => one.heard.includes('One "channel"'), { what: 'the notification' });
    expect(two.heard).toEqual(['listening']);
    expect(await backends()).toHaveLength(1);
    await first.close();
    expect(second.state.type).toBe('listening');
    await second.close();
    await waitFor(async () => (await backends()).length === 0, { what: 'the connection to end' });
  });

  it('Q10, K98: on a frozen network it notices by its ping, and says to look when it listens again', async () => {
    const proxy = await TcpProxy.open(db.url);
    const one = subscriber();
    const subscription = listenAt(() => ({ connectionString: proxy.url }), ['c'], one, TIMINGS);
    await waitFor(() => one.heard.length === 1, { what: 'it to listen' });
    proxy.freeze('both');
    await waitFor(() => one.heard.includes('lost'), { what: 'the loss to be noticed' });
    expect(subscription.state).toMatchObject({ type: 'failing' });
    proxy.pass();
    await waitFor(() => one.heard.length === 3, { what: 'it to listen again' });
    expect(one.heard).toEqual(['listening', 'lost', 'listening']);
    await subscription.close();
    await proxy.close();
  });
});
