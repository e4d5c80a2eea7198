import type { QueueEvent } from '../ports/queue.events.js';
import type { LogLevel } from './log.line.js';
import { LoggingReporter } from './logging.reporter.js';

const error = new Error('what a user wrote');
const name = 'holdfast.scheduler';
const failed = {
  type: 'duty.failed',
  code: 'mail.closed',
  error,
  name: 'report.sweep',
  ranMs: 1,
  retryMs: 10,
} as const;

function linesOf(...events: QueueEvent[]): (readonly [LogLevel, string, Readonly<Record<string, unknown>>])[] {
  const lines: (readonly [LogLevel, string, Readonly<Record<string, unknown>>])[] = [];
  const reporter = new LoggingReporter((level, message, fields) => lines.push([level, message, fields]));
  for (const event of events) reporter.report(event);
  return lines;
}

describe('What the log says of a scheduler', () => {
  it('a process that leads and works says nothing at info but its start, its election and its end', () => {
    const lines = linesOf(
      {
        type: 'scheduler.started',
        connections: [{ connections: 1, role: 'leadership' }],
        duties: ['a'],
        tickMs: 10_000,
        warnings: [],
      },
      { type: 'leader.elected', name },
      { type: 'scheduler.tick', isLeader: true, lagMs: 3 },
      { type: 'duty.started', name: 'report.sweep' },
      { type: 'duty.done', name: 'report.sweep', ranMs: 1.6 },
      { type: 'queue.depth', deferred: [], handled: [], kinds: [] },
      { type: 'queue.depth_cleared' },
      { type: 'leader.released', name },
      { type: 'scheduler.stopped', abandoned: [] },
    );
    expect(lines.filter(([level]) => level !== 'debug').map(([level, message]) => `${level}: ${message}`)).toEqual([
      'info: Scheduling 1 duty every 10000 ms where this process leads. Connections: leadership 1.',
      'info: This process is the leader of holdfast.scheduler.',
      'info: This process has given up being the leader of holdfast.scheduler.',
      'info: The scheduler has stopped.',
    ]);
  });

  it('R8: a duty that failed is a warning with its full error, an error from the second time on', () => {
    const [first, second] = linesOf({ ...failed, failures: 1 }, { ...failed, failures: 2 });
    expect(first).toMatchObject(['warn', expect.stringContaining('mail.closed'), { error, name: 'report.sweep' }]);
    expect(second).toMatchObject(['error', expect.stringContaining('2 in a row'), { error }]);
    for (const [, message] of [first!, second!]) expect(message).not.toContain(error.message);
  });

  it('S3: one that the stop of its process ended has failed at nothing, however often', () => {
    const [line] = linesOf({ ...failed, code: 'queue.duty_stopped', failures: 3 });
    expect(line).toMatchObject([
      'info',
      'The duty report.sweep was ended by the stop of its process; it is due at once.',
      {},
    ]);
    expect(Object.values(line![2])).not.toContain(error);
  });

  it('L2, L4: a loss has its reason, a refusal its remedy', () => {
    const [lost, refused] = linesOf(
      { type: 'leader.lost', error, name },
      { type: 'leader.refused', error: new Error('Set directUrl.'), name },
    );
    expect(lost).toMatchObject(['warn', 'This process is no longer the leader of holdfast.scheduler.', { error }]);
    expect(refused).toMatchObject(['error', 'This process cannot stand for holdfast.scheduler: Set directUrl.', {}]);
  });

  it('S1: a tick that is late is told, and one that is not is not', () => {
    const tick = { type: 'scheduler.tick', isLeader: true } as const;
    expect(linesOf({ ...tick, lagMs: 999 }, { ...tick, lagMs: 2_500.4 })).toMatchObject([
      ['warn', "The scheduler's tick came 2500 ms late.", {}],
    ]);
  });

  it('S6: kinds that nobody handles are named, and that there are none any more', () => {
    const [gone, back] = linesOf(
      { type: 'kinds.unhandled', kinds: ['a.b', 'c.d'] },
      { type: 'kinds.unhandled', kinds: [] },
    );
    expect(gone).toMatchObject(['warn', 'Jobs wait for kinds that no live process handles: a.b, c.d.', {}]);
    expect(back![0]).toBe('info');
  });

  it('S3: what goes wrong at the edges is never silent', () => {
    const levels = linesOf(
      { type: 'duty.overrun', name: 'a', overMs: 1_000, returned: false },
      { type: 'duty.unrecorded', error, name: 'a' },
      { type: 'scheduler.failed', delayMs: 100, error, failures: 1, stage: 'leadership' },
      { type: 'scheduler.failed', delayMs: 100, error, failures: 3, stage: 'leadership' },
      { type: 'scheduler.recovered', failures: 2, stage: 'leadership' },
      { type: 'scheduler.stopped', abandoned: ['a'] },
    ).map(([level]) => level);
    expect(levels).toEqual(['warn', 'warn', 'warn', 'error', 'info', 'warn']);
  });
});
