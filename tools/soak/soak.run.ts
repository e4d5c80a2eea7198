import { waitFor } from '@holdfast/testing';
import { SeededRandom } from './seeded.random.js';
import { soakFaults, type SoakStage } from './soak.faults.js';
import { POLLERS } from './soak.jobs.js';
import type { FaultRecord, SoakEvidence } from './soak.judge.js';
import { SoakLedger } from './soak.ledger.js';
import type { SoakOptions } from './soak.options.js';
import { SoakProducers } from './soak.producers.js';
import { SoakServer } from './soak.server.js';
import { WorkerProcess } from './worker.process.js';

const WORKERS = 3;
const CALIBRATION_JOBS = 1_000;
const FLOW_MS = 60_000;
const DRAIN_MS = 180_000;
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** SoakRun starts everything, does faults until its time is over, lets all of it come to rest, and answers what was found. */
export class SoakRun {
  private readonly faults = new Map<string, FaultRecord>();
  private readonly random: SeededRandom;
  private sampling: NodeJS.Timeout | undefined;
  private server: SoakServer | undefined;
  private workers: WorkerProcess[] = [];

  constructor(
    private readonly options: SoakOptions,
    private readonly say: (line: string) => void,
  ) {
    this.random = new SeededRandom(options.seed);
  }

  /** close ends whatever runs; it never rejects. */
  async close(): Promise<void> {
    clearInterval(this.sampling);
    await Promise.allSettled(this.workers.map((worker) => worker.kill()));
    await Promise.allSettled(this.workers.map((worker) => worker.close()));
    await this.server?.stop().catch(() => undefined);
  }

  async run(): Promise<SoakEvidence> {
    this.server = await SoakServer.start();
    const { url } = this.server;
    const ledger = await SoakLedger.create(url);
    this.workers = Array.from({ length: WORKERS }, (_, at) => new WorkerProcess(`worker ${at + 1}`, url));
    await Promise.all(this.workers.map((worker) => worker.start()));
    this.sampling = setInterval(() => this.workers[0]?.takeMemory(), 2_000);
    const producers = new SoakProducers(url, this.random);
    const capacity = await this.calibrate(ledger, producers);
    this.say(
      `${WORKERS} workers, about ${capacity.toFixed(0)} jobs a second; faults for ${this.options.minutes} minutes`,
    );
    const startedMs = performance.now();
    producers.start();
    await this.harm({ capacity, ledger, producers, random: this.random, server: this.server, workers: this.workers });
    const seconds = (performance.now() - startedMs) / 1000;
    await producers.stop();
    this.say(
      `the faults are over, ${producers.failed} transactions of producers were lost to them; waiting for the rest`,
    );
    return { ...(await this.rest(ledger)), faults: this.faults, seconds };
  }

  private async calibrate(ledger: SoakLedger, producers: SoakProducers): Promise<number> {
    await producers.burst(CALIBRATION_JOBS);
    const startedMs = performance.now();
    await waitFor(async () => (await ledger.live()) === 0, {
      deadlineMs: 120_000,
      everyMs: 50,
      what: 'the first jobs',
    });
    return CALIBRATION_JOBS / ((performance.now() - startedMs) / 1000);
  }

  /** Every fault once in an order of the seed, then again in another, until the time is over. */
  private async harm(stage: SoakStage): Promise<void> {
    const endMs = performance.now() + this.options.minutes * 60_000;
    let order: string[] = [];
    while (performance.now() < endMs) {
      if (order.length === 0) order = this.random.shuffled(Object.keys(soakFaults));
      const name = order.shift()!;
      await soakFaults[name]!(stage);
      const flowMs = await this.untilFlowing(stage.ledger);
      const { count, recovered, worstMs } = this.faults.get(name) ?? { count: 0, recovered: 0, worstMs: 0 };
      this.faults.set(name, {
        count: count + 1,
        recovered: recovered + (flowMs === undefined ? 0 : 1),
        worstMs: Math.max(worstMs, flowMs ?? FLOW_MS),
      });
      await pause(this.random.between(200, 2_000));
    }
  }

  private async rest(ledger: SoakLedger): Promise<Omit<SoakEvidence, 'faults' | 'seconds'>> {
    const quiet = (what: string, condition: () => Promise<boolean>, deadlineMs: number) =>
      waitFor(condition, { deadlineMs, everyMs: 250, what }).then(
        () => undefined,
        (error: unknown) => (error as Error).message,
      );
    const drained = await quiet('every job to end', async () => (await ledger.live()) === 0, DRAIN_MS);
    await quiet('the pollers', async () => (await ledger.idlePollers(POLLERS, 5)).length === 0, 30_000);
    const idlePollers = await ledger.idlePollers(POLLERS, 10);
    await ledger.over();
    const ended = async () => (await ledger.findings()).left.length === 0;
    await quiet('the pollers to end', ended, 30_000);
    this.workers[0]?.takeMemory();
    await Promise.all(this.workers.map((worker) => worker.stop()));
    await quiet('the connections to be gone', async () => (await ledger.backends()) === 0, 15_000);
    const evidence = {
      backendsLeft: await ledger.backends(),
      drained,
      findings: await ledger.findings(),
      idlePollers,
      memory: this.workers[0]?.memory ?? [],
      unexpected: this.workers.flatMap(({ unexpected }) => unexpected),
    };
    await ledger.close();
    return evidence;
  }

  /** untilFlowing answers how long it took until another effect was committed; undefined when none was within a minute. */
  private async untilFlowing(ledger: SoakLedger): Promise<number | undefined> {
    const startedMs = performance.now();
    let before: number | undefined;
    while (performance.now() - startedMs < FLOW_MS) {
      const now = await ledger.effects().catch(() => undefined);
      if (before !== undefined && now !== undefined && now > before) return performance.now() - startedMs;
      before ??= now;
      await pause(50);
    }
    return undefined;
  }
}
