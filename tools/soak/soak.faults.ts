import type { SeededRandom } from './seeded.random.js';
import type { SoakLedger } from './soak.ledger.js';
import type { SoakProducers } from './soak.producers.js';
import type { SoakServer } from './soak.server.js';
import type { WorkerProcess } from './worker.process.js';

/** SoakStage is what the faults are done to. */
export interface SoakStage {
  /** capacity is how many plain jobs a second the workers did at the start. */
  readonly capacity: number;
  readonly ledger: SoakLedger;
  readonly producers: SoakProducers;
  readonly random: SeededRandom;
  readonly server: SoakServer;
  /** workers: the first is never ended, so that its memory tells. */
  readonly workers: readonly WorkerProcess[];
}

/** SoakFault does its harm and resolves when that is over and whoever was ended runs again. */
export type SoakFault = (stage: SoakStage) => Promise<void>;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const LEASES_OVER_MS = [7_000, 12_000] as const;

const anyOf = ({ random, workers }: SoakStage) => random.pick(workers);
const mortalOf = ({ random, workers }: SoakStage) => random.pick(workers.slice(1));

/** soakFaults are the faults by name. */
export const soakFaults: Readonly<Record<string, SoakFault>> = {
  SIGKILL: async (stage) => {
    const worker = mortalOf(stage);
    await worker.kill();
    await worker.start();
  },
  SIGTERM: async (stage) => {
    const worker = mortalOf(stage);
    await worker.stop();
    await worker.start();
  },
  'SIGSTOP past the lease': async (stage) => {
    const worker = anyOf(stage);
    worker.signal('SIGSTOP');
    await pause(stage.random.between(...LEASES_OVER_MS));
    worker.signal('SIGCONT');
  },
  'backends terminated': async ({ ledger, random }) => {
    for (let round = 0; round < 3; round += 1) {
      await ledger.rows(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
         AND application_name <> 'soak-ledger' AND random() < 0.5`,
      );
      await pause(random.between(100, 1_000));
    }
  },
  'server restarted, fast': ({ server }) => server.restart('fast'),
  'server restarted, immediate': ({ server }) => server.restart('immediate'),
  'network frozen': async (stage) => {
    const { proxy } = anyOf(stage);
    proxy.freeze(stage.random.pick(['answers', 'both', 'requests'] as const));
    await pause(stage.random.between(...LEASES_OVER_MS));
    proxy.pass();
  },
  'network cut': async (stage) => {
    const { proxy } = anyOf(stage);
    proxy.refuse();
    proxy.sever();
    await pause(stage.random.between(500, 4_000));
    proxy.pass();
  },
  'long reader': async ({ ledger, random }) => {
    const client = await ledger.pool.connect();
    try {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM soak_effect');
      await pause(random.between(8_000, 15_000));
      await client.query('COMMIT');
    } finally {
      client.release();
    }
  },
  'pool exhausted': async (stage) => anyOf(stage).exhaust(stage.random.between(3_000, 6_000)),
  'producer transaction held': ({ producers, random }) => producers.hold(random.between(8_000, 15_000)),
  burst: ({ producers }) => producers.burst(2_000),
  overload: async ({ capacity, producers }) => {
    for (let tick = 0; tick < 20; tick += 1) {
      await Promise.all([producers.burst(Math.ceil((capacity * 1.5) / 2)), pause(500)]);
    }
  },
};
