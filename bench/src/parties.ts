import { join } from 'node:path';
import type { BenchTools } from './case.js';
import { runContender } from './contender.js';
import { peerScript } from './peers.js';
import type { Contender } from './rounds.js';

const ROOT = join(__dirname, '..', '..');
const LOADER = ['-C', '@holdfast/source', '-r', join(ROOT, 'tools', 'register.cjs')];
const contender = (name: string) => [...LOADER, join(ROOT, 'bench', 'contenders', name)];

/** holdfast is Holdfast with a handler that inserts a row (attached) or does nothing (detached). */
export function holdfast(
  tools: BenchTools,
  mode: 'attached-insert' | 'batch-insert' | 'detached-noop' | 'group-insert',
  jobs: number,
  slots: number,
): Contender {
  const effects = mode === 'detached-noop' ? 0 : jobs;
  return party(tools, `holdfast ${mode}, ${slots} slots`, jobs, effects, (url) => [
    ...contender('holdfast.main.ts'),
    url,
    mode,
    String(jobs),
    String(slots),
  ]);
}

/** graphileWorker is graphile-worker, as it comes (unbatched) or in its fastest documented setting. */
export function graphileWorker(
  tools: BenchTools,
  mode: 'insert' | 'noop',
  jobs: number,
  settings: { batched: boolean; concurrency: number },
): Contender {
  const name = `graphile-worker ${mode}, ${settings.concurrency} at once${settings.batched ? ', batched' : ''}`;
  const effects = mode === 'insert' ? jobs : 0;
  return party(tools, name, jobs, effects, (url) => [
    peerScript('graphile.mjs'),
    url,
    mode,
    String(jobs),
    JSON.stringify(settings),
  ]);
}

/** claimLimit is claim and completion by arrays with a plain client and nothing around it. */
export function claimLimit(tools: BenchTools, jobs: number): Contender {
  return party(tools, 'limit: claim and complete by arrays', jobs, 0, (url) => [
    ...contender('limit.main.ts'),
    url,
    String(jobs),
    '4',
  ]);
}

/** pgBossBatches is pg-boss with a transaction for each batch: its handler inserts a row for each job through the transaction that completes them. */
export function pgBossBatches(
  tools: BenchTools,
  jobs: number,
  settings: { batchSize: number; workers: number },
): Contender {
  const name = `pg-boss transactional, batches of ${settings.batchSize} × ${settings.workers}`;
  return party(tools, name, jobs, jobs, (url) => [
    peerScript('pg-boss.mjs'),
    url,
    String(jobs),
    JSON.stringify(settings),
  ]);
}

function party(
  tools: BenchTools,
  name: string,
  jobs: number,
  effects: number,
  args: (url: string) => string[],
): Contender {
  return {
    name,
    round: async () => {
      const url = await tools.server.freshDatabase('bench');
      const { seconds, statements } = await runContender(tools.node, args(url), { effects, jobs });
      if (statements !== undefined) tools.log(`           ${name}: ${(statements / jobs).toFixed(3)} statements a job`);
      return jobs / seconds;
    },
  };
}
