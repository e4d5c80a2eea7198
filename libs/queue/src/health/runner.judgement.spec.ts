import { DeafListenerError } from '@holdfast/kernel';
import type { RunnerVitals, StageTrouble } from '../ports/runner.vitals.js';
import { judgeRunner, type RunnerSigns } from './runner.judgement.js';

const NOW = 1_000_000;
const healthy: RunnerVitals = {
  kinds: ['mail.send', 'mail.sort'],
  lastPassAt: NOW - 500,
  lastStepAt: NOW - 500,
  paused: [],
  pollMs: 2_000,
  running: 0,
  runningByKind: {},
  slots: 10,
  startedAt: NOW - 60_000,
  state: 'running',
  troubles: [],
};
const trouble = (stage: StageTrouble['stage'], failures: number, forMs: number): StageTrouble => ({
  error: Object.assign(new Error('secret-host'), { code: 'ECONNREFUSED' }),
  failures,
  since: NOW - forMs,
  stage,
});
const judge = (vitals: Partial<RunnerVitals> = {}, signs: Partial<RunnerSigns> = {}) =>
  judgeRunner({ backlogMs: 900_000, depth: undefined, now: NOW, vitals: { ...healthy, ...vitals }, ...signs });
const due = (kind: string, minutes: number) => ({ due: 1, kind, oldestDueAgeMs: minutes * 60_000 });

describe('judgeRunner', () => {
  it('H1: a loop that moves is up, and says how busy it is', () => {
    expect(judge()).toEqual({ details: { lastPassMsAgo: 500, running: 0, slots: 10 }, status: 'up' });
  });

  it('K143: a runner whose slots are all taken is up', () => {
    expect(judge({ running: 10 }).status).toBe('up');
  });

  it.each<[RunnerVitals['state'], string]>([
    ['idle', 'The runner has not been started.'],
    ['draining', 'The runner is draining: it claims nothing more.'],
    ['stopped', 'The runner has stopped.'],
  ])('H1: %s is down', (state, message) => {
    expect(judge({ state })).toMatchObject({ message, status: 'down' });
  });

  it('K50: a loop that has not moved for its poll and half a minute is stuck, and down', () => {
    expect(judge({ lastStepAt: NOW - 32_000 }).status).toBe('up');
    expect(judge({ lastStepAt: NOW - 32_001 })).toMatchObject({
      message: "The runner's loop is stuck: it has not moved for 32 s.",
      status: 'down',
    });
    expect(judge({ lastStepAt: NOW - 89_000, pollMs: 60_000 }).status).toBe('up');
  });

  it.each(['claim', 'endings', 'intake', 'pass'] as const)(
    'K50: %s that fails for three attempts, or ten seconds, is down',
    (stage) => {
      expect(judge({ troubles: [trouble(stage, 2, 9_999)] }).status).toBe('up');
      for (const lasting of [trouble(stage, 3, 600), trouble(stage, 1, 10_000)]) {
        const { message, status } = judge({ troubles: [lasting] });
        expect(status).toBe('down');
        expect(message).toContain('The runner cannot look for work');
        expect(message).not.toContain('secret-host');
      }
    },
  );

  it('H1: a part without which it still works makes it degraded', () => {
    expect(judge({ troubles: [trouble('reap', 3, 600)] })).toMatchObject({
      message:
        'The runner is impaired: reap has failed 3 times in a row: the database cannot be reached (ECONNREFUSED).',
      status: 'degraded',
    });
    expect(judge({ troubles: [trouble('reap', 3, 600), trouble('claim', 3, 600)] }).status).toBe('down');
  });

  it('H1: due jobs of its kinds that are older than the threshold make it degraded, and the oldest is named', () => {
    expect(judge({}, { depth: [due('mail.send', 15)] }).status).toBe('up');
    expect(judge({}, { depth: [due('mail.sort', 16), due('mail.send', 20), due('other.kind', 99)] })).toMatchObject({
      details: { oldestDueMs: 1_200_000 },
      message: 'Jobs of the kind mail.send have been due for 20 min.',
      status: 'degraded',
    });
    expect(judge({}, { backlogMs: 100, depth: [{ due: 1, kind: 'mail.send', oldestDueAgeMs: 2_000 }] }).message).toBe(
      'Jobs of the kind mail.send have been due for 2 s.',
    );
    expect(judge({}, { depth: [{ due: 0, kind: 'mail.send', oldestDueAgeMs: 9e9 }] }).status).toBe('up');
  });

  it('K105: a runner that hears nothing for ten seconds is degraded, and says why and what that means', () => {
    const error = new DeafListenerError('two connections were answered by backend 7');
    expect(judge({ waking: { error, since: NOW - 9_999, state: 'polling' } }).status).toBe('up');
    const { message, status } = judge({ waking: { error, since: NOW - 10_000, state: 'polling' } });
    expect(status).toBe('degraded');
    expect(message).toMatch(
      /^No notifications arrive, work is found by polling every 2000 ms: .*kernel\.deaf_listener/,
    );
    expect(judge({ waking: { since: NOW - 10_000, state: 'starting' } })).toMatchObject({
      message: expect.stringContaining('the listener is still being opened') as string,
      status: 'degraded',
    });
  });

  it('Q10: a runner that listens, and one that does not want to, are up', () => {
    expect(judge({ waking: { since: NOW - 90_000, state: 'listening' } }).status).toBe('up');
    expect(judge({ waking: undefined }).status).toBe('up');
  });

  it('K96: a notification queue that is half full is degraded, since nobody is notified any more', () => {
    expect(judge({ waking: { queueUsage: 0.499, since: NOW, state: 'listening' } }).status).toBe('up');
    expect(judge({ waking: { queueUsage: 0.5, since: NOW, state: 'listening' } })).toMatchObject({
      message: expect.stringMatching(/notification queue is 50 % full: some session .* listens/) as string,
      status: 'degraded',
    });
  });
});
