import type { RunnerEvent } from '../ports/runner.events.js';
import type { LogLevel } from './log.line.js';
import { LoggingReporter } from './logging.reporter.js';

const run = { attempt: 2, id: '77', kind: 'mail.send', tenantId: 'acme' };
const error = new Error('what the user wrote');

function linesOf(...events: RunnerEvent[]): [LogLevel, string, Readonly<Record<string, unknown>>][] {
  const lines: [LogLevel, string, Readonly<Record<string, unknown>>][] = [];
  const reporter = new LoggingReporter((...line) => void lines.push(line));
  for (const event of events) reporter.report(event);
  return lines;
}

describe('LoggingReporter', () => {
  it('R8: the full error goes to the log, with the id of its job and without a payload', () => {
    const events: RunnerEvent[] = [
      { type: 'job.retried', code: 'queue.job_failed', delayMs: 10, error, failureClass: 'retryable', ranMs: 1, run },
      {
        type: 'job.deferred',
        code: 'queue.job_failed',
        delayMs: 10,
        error,
        failureClass: 'unavailable',
        ranMs: 1,
        run,
        verb: 'defer',
      },
      { type: 'job.dead_lettered', code: 'queue.job_failed', error, failureClass: 'permanent', ranMs: 1, run },
      { type: 'job.lost', error, ranMs: 1, run },
      { type: 'job.threw_after_finish', error, run },
      { type: 'job.unrecorded', error, run },
    ];
    for (const [level, message, fields] of linesOf(...events)) {
      expect(['warn', 'error']).toContain(level);
      expect(message).toContain('Job 77 (mail.send, attempt 2)');
      expect(fields).toMatchObject({ attempt: 2, error, jobId: '77', kind: 'mail.send', tenantId: 'acme' });
    }
  });

  it('R8: no text of an error is logged at info or below', () => {
    const lines = linesOf(
      { type: 'job.rerun', error, rerun: 1, run },
      { type: 'job.refused', code: 'mail.closed', ranMs: 1, run },
      { type: 'job.given_back', reason: 'shutdown', run },
      { type: 'job.completed', counts: undefined, outcome: null, ranMs: 1, run, verb: 'complete' },
    );
    for (const [level, message, fields] of lines) {
      expect(level).toBe('debug');
      expect(message).not.toContain(error.message);
      expect(Object.values(fields)).not.toContain(error);
      expect(fields).toMatchObject({ jobId: '77' });
    }
  });

  it('M5: nothing per job is written at info; starts and drains are', () => {
    const lines = linesOf(
      { type: 'job.completed', counts: undefined, outcome: null, ranMs: 1, run, verb: 'complete' },
      { type: 'job.completed', counts: undefined, outcome: null, ranMs: 1, run, verb: 'repeat' },
      { type: 'job.given_back', reason: 'shutdown', run },
      { type: 'job.refused', code: 'mail.closed', ranMs: 1, run },
      { type: 'job.rerun', error, rerun: 1, run },
      { type: 'job.started', run, waitedMs: 1 },
      { type: 'runner.started', connections: [], kinds: ['a'], slots: 1, warnings: [] },
      { type: 'runner.draining', graceMs: 1, running: 0 },
      { type: 'runner.drained', abandoned: 0, givenBack: 0 },
      { type: 'runner.stopped' },
    );
    expect(lines.map(([level]) => level)).toEqual([
      ...Array<LogLevel>(6).fill('debug'),
      ...Array<LogLevel>(4).fill('info'),
    ]);
  });

  it('M5: fields have no undefined in them, and whole milliseconds', () => {
    const [line] = linesOf({
      type: 'job.completed',
      counts: undefined,
      outcome: null,
      ranMs: 1.6,
      run,
      verb: 'complete',
    });
    const { attempt, id: jobId, kind, tenantId } = run;
    const fields = {
      attempt,
      event: 'job.completed',
      jobId,
      kind,
      outcome: null,
      ranMs: 2,
      tenantId,
      verb: 'complete',
    };
    expect(line![2]).toStrictEqual(fields);
  });

  it('an idle process says little: nothing of a claim that found nothing, a word at its stop', () => {
    const lines = linesOf(
      { type: 'claim.answered', asked: 10, fullLook: true, got: 0 },
      { type: 'runner.started', connections: [], kinds: ['a'], slots: 1, warnings: [] },
      { type: 'runner.draining', graceMs: 1, running: 0 },
      { type: 'runner.drained', abandoned: 0, givenBack: 0 },
    );
    expect(lines.map(([, message]) => message)).toEqual([
      'Running 1 kind on 1 slot. Connections: .',
      'Draining: nothing runs.',
      'Drained.',
    ]);
  });

  it('Q12: what was reaped is named, and said to run alone', () => {
    const returned = Array.from({ length: 12 }, (_, at) => ({ id: String(at), kind: 'mail.send' }));
    const dead = [{ id: '7', kind: 'mail.send' }];
    const [back, buried] = linesOf(
      { type: 'reap.done', result: { cancelled: [], deadLettered: [], returned } },
      { type: 'reap.done', result: { cancelled: [], deadLettered: dead, returned: [] } },
    );
    expect(back![1]).toMatch(/^Taken back .*: 12 jobs, 0 \(mail\.send\), .* and 2 more\. Each runs alone next\.$/);
    expect(buried![1]).toBe('Vanished in the last attempt, dead letters now: 1 job, 7 (mail.send).');
  });

  it('R2: a lost lease is one line, which says that nothing stays', () => {
    expect(linesOf({ type: 'job.lost', error, ranMs: 1_234.5, run })).toEqual([
      [
        'warn',
        'Job 77 (mail.send, attempt 2) lost its lease, after 1235 ms: what it wrote was rolled back.',
        expect.anything(),
      ],
    ]);
  });

  it('R19: the line at the start says how many connections each role holds, and warns of a pool without room', () => {
    const connections = [
      { connections: 4, role: "handlers (of the application's pool of 4)" },
      { connections: 3, role: 'control traffic' },
    ];
    const started = { connections, kinds: ['a', 'b'], slots: 4, type: 'runner.started' } as const;
    const [plain, warned] = linesOf({ ...started, warnings: [] }, { ...started, warnings: ['The whole pool.'] });
    const line =
      "Running 2 kinds on 4 slots. Connections: handlers (of the application's pool of 4) 4, control traffic 3.";
    expect(plain!.slice(0, 2)).toEqual(['info', line]);
    expect(warned!.slice(0, 2)).toEqual(['warn', `${line} The whole pool.`]);
  });
});
