import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import { SoakLedger } from '../soak/soak.ledger.js';
import { memoryGrowth, violations, type SoakEvidence } from '../soak/soak.judge.js';
import { soakOptions } from '../soak/soak.options.js';
import { SeededRandom } from '../soak/seeded.random.js';

const MEGABYTE = 1024 * 1024;
const samples = (...megabytes: number[]) => megabytes.map((rss, at) => ({ rss: rss * MEGABYTE, uptime: 20 + at }));

describe('what the soak is judged by', () => {
  let database: TestDatabase;
  let ledger: SoakLedger;

  beforeEach(async () => {
    database = await createTestDatabase();
    ledger = new SoakLedger(database.pool());
    await ledger.createTables();
    await database.adminQuery(`INSERT INTO soak_request (kind, tag) VALUES ('soak.plain', 'a'), ('soak.refused', 'b')`);
    await database.adminQuery(`INSERT INTO soak_effect (kind, tag) VALUES ('soak.plain', 'a')`);
  });
  afterEach(() => database.drop());

  const judged = async (changes: Partial<SoakEvidence> = {}) =>
    violations({
      backendsLeft: 0,
      drained: undefined,
      faults: new Map([['SIGKILL', { count: 1, recovered: 1, worstMs: 10 }]]),
      findings: { ...(await ledger.findings()), duties: 10 },
      idlePollers: [],
      memory: samples(100, 100, 100, 100, 100, 100, 110, 110, 110),
      seconds: 60,
      unexpected: [],
      ...changes,
    });

  it('finds nothing where all holds', async () => {
    expect(await judged()).toEqual([]);
  });

  it.each([
    ['a lost effect', 'DELETE FROM soak_effect', /effects are not as many.*soak.plain a has 0 effects/],
    ['a doubled one', `INSERT INTO soak_effect (kind, tag) VALUES ('soak.plain', 'a')`, /soak.plain a has 2 effects/],
    ['one of a refused job', `INSERT INTO soak_effect (kind, tag) VALUES ('soak.refused', 'b')`, /b has 1 effects/],
    [
      'one of a transaction that was rolled back',
      `INSERT INTO soak_effect (kind, tag) VALUES ('soak.plain', 'c')`,
      /rolled back.*soak.plain c/,
    ],
    [
      'a request that no run covers',
      `INSERT INTO soak_request (kind, tag, key) VALUES ('soak.rerun', 'd', 'k')`,
      /no run covers.*soak.rerun k/,
    ],
    [
      'a detached job that told nobody',
      `INSERT INTO soak_request (kind, tag) VALUES ('soak.outside', 'e'); INSERT INTO soak_effect (kind, tag) VALUES ('soak.outside', 'e')`,
      /never told their receiver.*e/,
    ],
    [
      'a job that is left',
      `INSERT INTO holdfast.job (kind, payload) VALUES ('soak.plain', '{}')`,
      /left live.*soak.plain \d+ in state 0/,
    ],
    [
      'a job that ended as a dead letter',
      `INSERT INTO holdfast.job (kind, payload, state, attempt, finished_at) VALUES ('soak.plain', '{}', 4, 1, now())`,
      /ended otherwise.*soak.plain \d+ ended in state 4/,
    ],
  ])('finds %s', async (_, sql, words) => {
    await database.adminQuery(sql);
    const wrong = await judged();
    expect(wrong).toHaveLength(1);
    expect(wrong[0]).toMatch(words);
  });

  it.each<[string, Partial<SoakEvidence>, string]>([
    ['connections that are left', { backendsLeft: 2 }, '2 connections left'],
    ['what did not drain', { drained: 'Waited in vain' }, 'not drained'],
    [
      'a fault that nothing recovered from',
      { faults: new Map([['SIGKILL', { count: 2, recovered: 1, worstMs: 60_000 }]]) },
      'no job ran',
    ],
    ['a poller that stands still', { idlePollers: ['poller-1'] }, 'pollers that stand still'],
    [
      'memory that grew',
      { memory: samples(100, 100, 100, 150, 150, 150, 200, 200, 200) },
      'memory grew from 100 to 200 MB',
    ],
    ['a leader that did too little', { seconds: 600 }, '10 duties in 600 s'],
    ['a process that died', { unexpected: ['worker 1 ended with 3'] }, 'processes that ended by themselves'],
  ])('finds %s', async (_, changes, words) => {
    const wrong = await judged(changes);
    expect(wrong).toHaveLength(1);
    expect(wrong[0]).toContain(words);
  });

  it('says of memory nothing where a worker was not warm for long', () => {
    expect(memoryGrowth(samples(1, 2, 3, 4, 5, 6, 7, 8))).toBeUndefined();
  });

  it('takes what the command line says, and the same seed gives the same order', () => {
    expect(soakOptions(['--minutes', '3', '--seed', '7'])).toEqual({ minutes: 3, seed: 7 });
    expect(soakOptions([]).minutes).toBe(2);
    for (const wrong of [['--minutes'], ['--minute', '2'], ['--minutes', 'x'], ['--seed', '0']])
      expect(() => soakOptions(wrong)).toThrow('give --minutes N and --seed S');
    const order = (seed: number) => new SeededRandom(seed).shuffled([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(order(7)).toEqual(order(7));
    expect(order(7)).not.toEqual(order(8));
    expect(order(7).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });
});
