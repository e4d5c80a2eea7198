import type { BenchCase } from './case.js';
import { claimLimit, graphileWorker, holdfast } from './parties.js';
import { ratioOf, runRounds } from './rounds.js';

/** P3: detached jobs that do nothing, beside graphile-worker in its fastest setting and the bare limit. */
export const p3: BenchCase = {
  name: 'P3',
  title: 'detached, no-op',
  async run(tools) {
    const jobs = tools.options.quick ? 30_000 : 60_000;
    const contenders = [
      holdfast(tools, 'detached-noop', jobs, 1_000),
      graphileWorker(tools, 'noop', jobs, { batched: true, concurrency: 24 }),
      claimLimit(tools, 100_000),
    ];
    const [ours, peer, limit] = await runRounds(contenders, tools.options.rounds, tools.log);
    return {
      figures: [ours!, peer!, limit!],
      name: 'P3',
      ratios: {
        'graphile-worker at its fastest (bar 2)': ratioOf(ours!, peer!),
        'claim and complete by arrays (bar 0.6)': ratioOf(ours!, limit!),
      },
      unit: 'jobs/s',
    };
  },
};
