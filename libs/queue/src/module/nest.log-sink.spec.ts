import { Logger } from '@nestjs/common';
import { LoggingReporter } from '../runner/logging.reporter.js';
import { nestLogSink } from './nest.log-sink.js';

describe('nestLogSink', () => {
  const run = { attempt: 2, id: '7', kind: 'mail.send', tenantId: null };

  it("R8: writes an event at its level, and a failure with its full error and the job's id", () => {
    const logger = new Logger('test');
    const debug = jest.spyOn(logger, 'debug').mockImplementation();
    const log = jest.spyOn(logger, 'log').mockImplementation();
    const warn = jest.spyOn(logger, 'warn').mockImplementation();
    const reporter = new LoggingReporter(nestLogSink(logger));
    reporter.report({ type: 'job.completed', counts: undefined, outcome: null, ranMs: 1, run, verb: 'complete' });
    const error = new Error('outer', { cause: new TypeError('inner') });
    reporter.report({
      type: 'job.retried',
      code: 'queue.job_failed',
      delayMs: 10,
      error,
      failureClass: 'retryable',
      ranMs: 1,
      run,
    });
    reporter.report({ type: 'runner.stopped' });
    expect(debug.mock.calls).toEqual([[expect.stringContaining('Job 7 (mail.send, attempt 2)')]]);
    expect(log.mock.calls).toEqual([['The runner has stopped.']]);
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/Job 7 .*queue\.job_failed[^]*outer[^]*TypeError: inner/)],
    ]);
  });

  it('K36: writes whatever was thrown, also a text or nothing', () => {
    const logger = new Logger('test');
    const warn = jest.spyOn(logger, 'warn').mockImplementation();
    const reporter = new LoggingReporter(nestLogSink(logger));
    const hostile = {
      get [Symbol.toStringTag](): string {
        throw new Error('again');
      },
    };
    for (const error of ['oh', undefined, null, hostile]) {
      reporter.report({
        type: 'job.retried',
        code: 'queue.job_failed',
        delayMs: 10,
        error,
        failureClass: 'retryable',
        ranMs: 1,
        run,
      });
    }
    expect(warn).toHaveBeenCalledTimes(4);
    expect(warn.mock.calls[0]).toEqual([expect.stringContaining("'oh'")]);
  });
});
