import type { SqlExecutor } from '@holdfast/kernel';
import { DuplicateCandidateError } from '../errors/duplicate-candidate.error.js';
import { InvalidCandidateError } from '../errors/invalid-candidate.error.js';
import { LeadershipClosedError } from '../errors/leadership-closed.error.js';
import { NotLeaderError } from '../errors/not-leader.error.js';
import type { Leadership } from '../ports/leadership.js';
import { AlwaysLeadership } from './always.leadership.js';
import { NeverLeadership } from './never.leadership.js';

const TICK = { tickMs: 1_000 };
const executor: SqlExecutor = { query: () => Promise.resolve({ rowCount: 0, rows: [] }) };
const transactions = { transaction: <T>(work: (sql: SqlExecutor) => Promise<T>) => work(executor) };

describe.each<[string, () => Leadership]>([
  ['AlwaysLeadership', () => new AlwaysLeadership(transactions)],
  ['NeverLeadership', () => new NeverLeadership()],
])('%s', (_, make) => {
  it('K107: takes one candidate of a name, and another once it was released', async () => {
    const leadership = make();
    const first = leadership.candidate('reports', TICK);
    leadership.candidate('prices', TICK);
    expect(() => leadership.candidate('reports', TICK)).toThrow(DuplicateCandidateError);
    await first.release();
    expect(leadership.candidate('reports', TICK).name).toBe('reports');
    await leadership.close();
  });

  it.each([
    ['', 1_000],
    ['a\nb', 1_000],
    ['a\ud800', 1_000],
    ['x'.repeat(201), 1_000],
    [7 as unknown as string, 1_000],
    ['reports', 99],
    ['reports', 86_400_001],
    ['reports', Number.NaN],
  ])('refuses the name %j with a tick of %d ms', (name, tickMs) => {
    expect(() => make().candidate(name, { tickMs })).toThrow(InvalidCandidateError);
  });

  it.each([0, -1, Number.NaN, Infinity, '5' as unknown as number])(
    'K55: a transaction with a deadline of %p ms is refused before anything is sent',
    async (deadlineMs) => {
      const candidate = make().candidate('reports', TICK);
      await candidate.acquire();
      const work = jest.fn();
      const refused = candidate.transaction(work, { deadlineMs });
      await expect(refused).rejects.toThrow(/deadlineMs must be a number of milliseconds above 0/);
      expect(work).not.toHaveBeenCalled();
    },
  );

  it('has no leader and takes no candidate after its close', async () => {
    const leadership = make();
    const candidate = leadership.candidate('reports', TICK);
    await candidate.acquire();
    await leadership.close();
    await leadership.close();
    expect(candidate.isLeader).toBe(false);
    expect(candidate.beliefLeftMs).toBe(0);
    expect(() => leadership.candidate('reports', TICK)).toThrow(LeadershipClosedError);
    await expect(candidate.transaction(() => Promise.resolve(1))).rejects.toThrow(NotLeaderError);
  });
});

describe('AlwaysLeadership', () => {
  it('leads from acquire to release, and runs what a leader runs', async () => {
    const leadership = new AlwaysLeadership(transactions);
    const candidate = leadership.candidate('reports', TICK);
    expect(candidate.isLeader).toBe(false);
    await expect(candidate.transaction(() => Promise.resolve(1))).rejects.toThrow(NotLeaderError);
    expect(await candidate.acquire()).toBe(true);
    expect(await candidate.confirm()).toBe(true);
    expect(candidate.isLeader).toBe(true);
    expect(candidate.beliefLeftMs).toBe(1_000);
    expect(await candidate.transaction((sql) => Promise.resolve(sql === executor))).toBe(true);
    await candidate.release();
    expect(await candidate.confirm()).toBe(false);
    expect(await candidate.acquire()).toBe(true);
    expect(leadership.connections).toEqual({});
  });
});

describe('NeverLeadership', () => {
  it('never leads', async () => {
    const candidate = new NeverLeadership().candidate('reports', TICK);
    expect(await candidate.acquire()).toBe(false);
    expect(await candidate.confirm()).toBe(false);
    expect(candidate.isLeader).toBe(false);
  });
});
