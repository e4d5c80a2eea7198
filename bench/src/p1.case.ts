import type { BenchCase } from './case.js';
import { graphileWorker, holdfast } from './parties.js';
import { ratioOf, runRounds } from './rounds.js';

/** P1: attached jobs, a commit each, one INSERT each, beside graphile-worker unbatched (its INSERT is not atomic with its completion). */
export const p1: BenchCase = {
  name: 'P1',
  title: 'attached, per-job commit, one INSERT per job',
  async run(tools) {
    const jobs = tools.options.quick ? 5_000 : 10_000;
    const contenders = [
      holdfast(tools, 'attached-insert', jobs, 10),
      graphileWorker(tools, 'insert', jobs, { batched: false, concurrency: 10 }),
    ];
    const [ours, peer] = await runRounds(contenders, tools.options.rounds, tools.log);
    return {
      figures: [ours!, peer!],
      name: 'P1',
      ratios: { 'graphile-worker unbatched (bar 1.5)': ratioOf(ours!, peer!) },
      unit: 'jobs/s',
    };
  },
};
