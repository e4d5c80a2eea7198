import type { QueueEvent } from '../ports/queue.events.js';
import type { LogLevel } from './log.line.js';
import { LoggingReporter } from './logging.reporter.js';

const refused = Object.assign(new Error('connect ECONNREFUSED 10.1.2.3'), { code: 'ECONNREFUSED' });
const denied = Object.assign(new Error('permission denied'), { code: '42501', severity: 'ERROR' });

const failed = (stage: 'claim' | 'intake' | 'reap', failures: number, error: unknown = refused): QueueEvent => ({
  type: 'loop.failed',
  delayMs: 200,
  error,
  failures,
  stage,
});
const recovered = (stage: 'claim' | 'intake' | 'reap', failures = 4): QueueEvent => ({
  type: 'loop.recovered',
  failures,
  stage,
});
const ticked = (failures: number, error: unknown = refused): QueueEvent => ({
  type: 'scheduler.failed',
  delayMs: 200,
  error,
  failures,
  stage: 'leadership',
});

class Log {
  readonly lines: [LogLevel, string, Readonly<Record<string, unknown>>][] = [];
  readonly reporter = new LoggingReporter((...line) => void this.lines.push(line));

  tell(...events: QueueEvent[]): this {
    for (const event of events) this.reporter.report(event);
    return this;
  }

  /** loud is what is said above debug, without fields. */
  get loud(): string[] {
    return this.lines.filter(([level]) => level !== 'debug').map(([level, message]) => `${level}: ${message}`);
  }
}

describe('What the log says of an outage', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('R18: is one warning for all stages with class and code, and one line when the database is back', () => {
    const log = new Log().tell(failed('claim', 1), failed('intake', 1), ticked(1), failed('claim', 2), ticked(2));
    jest.advanceTimersByTime(42_000);
    log.tell(failed('claim', 3), recovered('intake'), recovered('claim'), {
      type: 'scheduler.recovered',
      failures: 3,
      stage: 'leadership',
    });
    expect(log.loud).toEqual([
      "warn: The database is not reached: Error ECONNREFUSED (the runner's claim). It is tried again until it is; each try is a debug line.",
      'info: The database is reached again, after 42 s.',
    ]);
  });

  it('R8: the stack is at debug, with each try, and nowhere above', () => {
    const { lines } = new Log().tell(failed('claim', 1), failed('claim', 2), ticked(3));
    const withError = lines.filter(([, , fields]) => fields['error'] === refused);
    expect(withError.map(([level]) => level)).toEqual(['debug', 'debug', 'debug']);
    expect(lines).toHaveLength(4);
    for (const [, message] of lines) expect(message).not.toContain('10.1.2.3');
  });

  it('R18: the next outage is told again, also where the end of the one before was seen by nobody', () => {
    const log = new Log().tell(failed('claim', 1), recovered('claim'), failed('claim', 1));
    expect(log.loud).toHaveLength(3);
    jest.advanceTimersByTime(121_000);
    expect(log.tell(failed('intake', 1)).loud).toHaveLength(4);
  });

  it('R18: what is no outage is told with its full error, once as a warning, once as an error when it lasts', () => {
    const tries = Array.from({ length: 6 }, (_, at) => failed('reap', at + 1, denied));
    const log = new Log().tell(failed('claim', 1), ...tries, recovered('reap', 6));
    const told = log.lines.filter(([level, message]) => level !== 'debug' && message.includes('reap'));
    expect(told).toMatchObject([
      ['warn', "The runner's reap failed (1 in a row); again in 200 ms.", { error: denied }],
      ['error', "The runner's reap failed (3 in a row); again in 200 ms.", { error: denied }],
      ['info', "The runner's reap works again after 6 failures.", {}],
    ]);
  });

  it('L4: behind a pooler the refusal is told, once, and not each tick beside it', () => {
    const pooler = Object.assign(new Error('Set directUrl.'), { code: 'queue.pooler' });
    const name = 'holdfast.scheduler';
    const log = new Log().tell({ type: 'leader.refused', error: pooler, name }, ticked(1, pooler), ticked(2, pooler));
    expect(log.tell(ticked(3, pooler)).loud).toEqual([`error: This process cannot stand for ${name}: Set directUrl.`]);
  });
});
