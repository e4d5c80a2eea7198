import { HoldfastError } from '@holdfast/kernel';
import { judgeLeadership, type LeadershipVitals } from './leadership.judgement.js';

const NOW = 10_000_000;
const following: LeadershipVitals = {
  isLeader: false,
  lastError: undefined,
  lastStepAt: NOW - 4_000,
  lastTickAt: NOW - 4_000,
  leaderSeenAt: NOW - 20_000,
  startedAt: NOW - 600_000,
  tickMs: 10_000,
};
const judge = (vitals: Partial<LeadershipVitals> = {}) => judgeLeadership({ ...following, ...vitals }, 120_000, NOW);

describe('judgeLeadership', () => {
  it('H1: who leads, and who sees a leader act, is up', () => {
    expect(judge()).toEqual({
      details: { lastTickMsAgo: 4_000, leader: false, leaderSeenMsAgo: 20_000 },
      status: 'up',
    });
    expect(judge({ isLeader: true, leaderSeenAt: undefined }).status).toBe('up');
  });

  it('K50: a leader that has not been seen for long, or never, is absent: degraded', () => {
    expect(judge({ leaderSeenAt: NOW - 120_000 }).status).toBe('up');
    expect(judge({ leaderSeenAt: NOW - 120_001 })).toMatchObject({
      message: 'No leader has been seen to act for 120 s.',
      status: 'degraded',
    });
    expect(judge({ leaderSeenAt: undefined }).status).toBe('degraded');
  });

  it('H1: nobody is missed before this process could have seen them', () => {
    expect(judge({ leaderSeenAt: NOW - 9_000_000, startedAt: NOW - 5_000 }).status).toBe('up');
    expect(
      judge({ lastStepAt: undefined, lastTickAt: undefined, leaderSeenAt: undefined, startedAt: NOW - 5_000 }).status,
    ).toBe('up');
  });

  it('H1: leadership that cannot be asked for is degraded, and says why, whatever was seen before', () => {
    const lastError = new HoldfastError('queue.pooler', 'secret-host');
    expect(judge({ lastError, lastTickAt: NOW - 500_000 })).toMatchObject({
      message: expect.stringMatching(/^This process cannot lead.*directUrl.*\(queue\.pooler\)\.$/) as string,
      status: 'degraded',
    });
  });

  it('K50: a loop that hangs after a tick that failed is down, not degraded for ever', () => {
    const lastError = new HoldfastError('queue.pooler', 'secret-host');
    expect(judge({ lastError, lastStepAt: NOW - 60_000 }).status).toBe('degraded');
    expect(judge({ lastError, lastStepAt: NOW - 60_001 })).toMatchObject({
      message: "The scheduler's loop is stuck: it has not ticked for 60 s.",
      status: 'down',
    });
  });

  it('K50: a loop that does not tick is down, and so is one that does not run', () => {
    expect(judge({ lastStepAt: NOW - 60_000 }).status).toBe('up');
    expect(judge({ isLeader: true, lastStepAt: NOW - 60_001 })).toMatchObject({
      message: "The scheduler's loop is stuck: it has not ticked for 60 s.",
      status: 'down',
    });
    expect(judge({ startedAt: undefined })).toMatchObject({ message: 'The scheduler does not run.', status: 'down' });
  });
});
