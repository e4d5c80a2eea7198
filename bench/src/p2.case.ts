import type { BenchCase } from './case.js';
import { graphileWorker, holdfast, pgBossBatches } from './parties.js';
import { ratioOf, runRounds } from './rounds.js';

/**
 * P2: several attached jobs share a commit: a group, with one INSERT per handler call, and a batch, with one per call for 100 jobs; beside graphile-worker in its fastest
 * setting with the INSERT (not atomic with its completion) and pg-boss in transactions of 100 jobs, an INSERT each.
 */
export const p2: BenchCase = {
  name: 'P2',
  title: 'group commit, one INSERT per handler call; runBatch, one INSERT per batch of 100',
  async run(tools) {
    const jobs = tools.options.quick ? 10_000 : 20_000;
    const contenders = [
      holdfast(tools, 'group-insert', jobs, 256),
      holdfast(tools, 'batch-insert', jobs, 400),
      graphileWorker(tools, 'insert', jobs, { batched: true, concurrency: 24 }),
      pgBossBatches(tools, jobs, { batchSize: 100, workers: 10 }),
    ];
    const [group, batch, graphile, boss] = await runRounds(contenders, tools.options.rounds, tools.log);
    return {
      figures: [group!, batch!, graphile!, boss!],
      name: 'P2',
      ratios: {
        'group commit to graphile-worker at its fastest (bar 1.2)': ratioOf(group!, graphile!),
        'group commit to pg-boss, transactions of 100 (bar 1.5)': ratioOf(group!, boss!),
        'runBatch to graphile-worker at its fastest (bar 3)': ratioOf(batch!, graphile!),
        'runBatch to pg-boss, transactions of 100 (bar 1.5)': ratioOf(batch!, boss!),
      },
      unit: 'jobs/s',
    };
  },
};
