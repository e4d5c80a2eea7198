import 'reflect-metadata';
import { runWorker, type RunWorkerOptions } from './run-worker.js';

/** A module that is never made: the options are refused before. */
class NeverModule {
  constructor() {
    throw new Error('It was made.');
  }
}

describe('runWorker', () => {
  it('H1: reports every mistake of its options together, before anything is opened', async () => {
    const wrong = {
      backlog: '15',
      healthHost: '',
      healthPort: '3001',
      healthTimeoutMs: Number.NaN,
      leaderWithin: 'soon',
      metrics: true,
      signals: 'SIGTERM',
      startGrace: 10,
      timeout: 1,
    };
    await expect(runWorker(NeverModule, wrong as unknown as RunWorkerOptions)).rejects.toMatchObject({
      code: 'queue.invalid_options',
      problems: [
        "backlog must be a duration with its unit, such as '15m', not '15'",
        "healthHost must be an address, not ''",
        "healthPort must be a whole number from 0 to 65535, not '3001'",
        'healthTimeoutMs must be a whole number of milliseconds from 1 to 60000, not NaN',
        "leaderWithin must be a duration with its unit, such as '15m', not 'soon'",
        'metrics must be a registry of prom-client, not true',
        "signals must be a list of signals, not 'SIGTERM'",
        "startGrace must be a duration with its unit, such as '15m', not 10",
        'timeout is no option of runWorker',
      ],
    });
  });

  it('H1: the port is required', async () => {
    for (const given of [{}, undefined, { healthPort: 70_000 }])
      await expect(runWorker(NeverModule, given as RunWorkerOptions)).rejects.toMatchObject({
        code: 'queue.invalid_options',
        message: expect.stringContaining('healthPort'),
      });
  });
});
