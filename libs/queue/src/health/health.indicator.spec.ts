import type { HealthIndicatorFunction } from '@nestjs/terminus';
import { type HealthFinding, HealthIndicator } from './health.indicator.js';

/** What terminus 11 takes: it knows two statuses. */
type FunctionOf11 = () => PromiseLike<Record<string, { status: 'down' | 'up' } & Record<string, unknown>>>;

class Fixed extends HealthIndicator {
  readonly timeouts: number[] = [];

  constructor(private readonly finding: HealthFinding) {
    super();
  }

  protected look(timeoutMs: number): Promise<HealthFinding> {
    this.timeouts.push(timeoutMs);
    return Promise.resolve(this.finding);
  }
}

describe('HealthIndicator', () => {
  it('H1: answers the finding under the key, with its details and its message', async () => {
    const down = new Fixed({ details: { running: 1 }, message: 'Gone.', status: 'down' });
    expect(await down.check('queue')).toEqual({ queue: { message: 'Gone.', running: 1, status: 'down' } });
    expect(await new Fixed({ status: 'up' }).check('other')).toEqual({ other: { status: 'up' } });
  });

  it('H1: no detail hides the status or the message', async () => {
    const finding = { details: { message: 'x', status: 'up' }, message: 'Gone.', status: 'down' as const };
    expect(await new Fixed(finding).check('queue')).toEqual({ queue: { message: 'Gone.', status: 'down' } });
  });

  it('H1: degraded is a status of terminus 12, and for terminus 11 up with a mark', async () => {
    const degraded = new Fixed({ message: 'Old.', status: 'degraded' });
    expect(await degraded.check('queue')).toEqual({ queue: { message: 'Old.', status: 'degraded' } });
    const up = { queue: { degraded: true, message: 'Old.', status: 'up' } };
    expect(await degraded.check('queue', { degradedAs: 'up' })).toEqual(up);
  });

  it('H1: looks within the timeout of the check, by default within the second of a probe', async () => {
    const indicator = new Fixed({ status: 'up' });
    await indicator.check('queue');
    await indicator.check('queue', { timeoutMs: 5_000 });
    expect(indicator.timeouts).toEqual([800, 5_000]);
  });

  it.each([0, -1, Number.NaN, Infinity, 60_001, '800', null])(
    'K55: a timeout of %p is refused, whatever there is to find',
    async (timeoutMs) => {
      const indicator = new Fixed({ status: 'up' });
      await expect(indicator.check('queue', { timeoutMs: timeoutMs as number })).rejects.toMatchObject({
        code: 'queue.invalid_options',
        message: expect.stringContaining('timeoutMs must be a number of milliseconds from 1 to 60000') as string,
      });
      expect(indicator.timeouts).toEqual([]);
    },
  );

  it('H1: a misspelt degradedAs is refused', async () => {
    const options = { degradedAs: 'warn' } as never;
    await expect(new Fixed({ status: 'up' }).check('queue', options)).rejects.toThrow(/degradedAs must be/);
  });

  it('H1: its type is what terminus 12 takes, and with degradedAs what terminus 11 takes', () => {
    const indicator = new Fixed({ status: 'up' });
    const of12: HealthIndicatorFunction = () => indicator.check('queue');
    const of11: FunctionOf11 = () => indicator.check('queue', { degradedAs: 'up' });
    // @ts-expect-error -- a third status is none of terminus 11
    const wrong: FunctionOf11 = () => indicator.check('queue');
    expect([of12, of11, wrong]).toHaveLength(3);
  });
});
