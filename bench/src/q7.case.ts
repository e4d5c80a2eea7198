import { createQueue, defineJob, pgPool, type, type HoldfastQueue } from '@holdfast/queue/core';
import { Pool } from 'pg';
import type { BenchCase, BenchTools } from './case.js';
import { ratioOf, runRounds, type Contender } from './rounds.js';

const WRITERS = 50;
const STAYS_OPEN_S = 0.02;
const Keyed = defineJob('bench.keyed', { payload: type<{ n: number }>() });

type State = 'no job' | 'a pending job' | 'a worker finishing the key';

/** Q7: transactions that enqueue early and stay open 20 ms, all with one key beside a key each, in three states. */
export const q7: BenchCase = {
  name: 'Q7',
  title: 'one hot key: 50 transactions that enqueue and stay open 20 ms',
  async run(tools) {
    const states: State[] = ['no job', 'a pending job', 'a worker finishing the key'];
    const pairs = states.flatMap((state) => [party(tools, state, true), party(tools, state, false)]);
    const figures = await runRounds(pairs, tools.options.rounds, tools.log);
    const ratios = Object.fromEntries(
      states.map((state, at) => [
        `one key / distinct keys, ${state} (bar 0.8)`,
        ratioOf(figures[2 * at]!, figures[2 * at + 1]!),
      ]),
    );
    return { figures, name: 'Q7', ratios, unit: 'commits/s' };
  },
};

function party(tools: BenchTools, state: State, hot: boolean): Contender {
  return {
    name: `${hot ? 'one key' : 'distinct keys'}, ${state}`,
    round: async () => {
      const pool = new Pool({ connectionString: await tools.server.freshDatabase('bench'), max: WRITERS + 6 });
      // The next round drops this database while the last of these connections may still be closing.
      pool.on('error', () => undefined);
      const queue = createQueue({ database: pgPool(pool), migrations: 'up', run: { poll: '50ms', slots: 2 } });
      try {
        await prepare(queue, state);
        return await enqueueFor(queue, tools.options.quick ? 3_000 : 6_000, hot);
      } finally {
        await queue.close();
        await pool.end();
      }
    },
  };
}

async function prepare(queue: HoldfastQueue, state: State): Promise<void> {
  await queue.prepare();
  if (state === 'a pending job')
    await queue.jobs.enqueue(Keyed, { n: 0 }, { dedupeKey: 'hot', in: 'own', runIn: '1h' });
  if (state !== 'a worker finishing the key') return;
  queue.handle(Keyed, { run: () => Promise.resolve() });
  await queue.start();
}

/** enqueueFor answers the commits a second of writers that work for `ms`. */
async function enqueueFor(queue: HoldfastQueue, ms: number, hot: boolean): Promise<number> {
  const until = performance.now() + ms;
  let commits = 0;
  const write = async (writer: number): Promise<void> => {
    while (performance.now() < until) {
      await queue.unitOfWork.run(async (tx) => {
        await queue.jobs.enqueue(Keyed, { n: commits }, { dedupeKey: hot ? 'hot' : `k${writer}.${commits % 5_000}` });
        await tx.sql.query('SELECT pg_sleep($1)', [STAYS_OPEN_S]);
      });
      commits += 1;
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  return commits / (ms / 1_000);
}
