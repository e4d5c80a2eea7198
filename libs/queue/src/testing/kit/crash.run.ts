import { pause } from '@holdfast/kernel';
import type { AnyJobDefinition } from '../../domain/definition.js';
import { jobRequest } from '../../domain/request.js';
import type { ClaimedJob } from '../../ports/job-store.js';
import { KitRunner } from './kit.runner.js';
import { NamedClaim } from './named.claim.js';
import { type CrashPoint, poolOf, StatementTap } from './statement.tap.js';
import { encodeFor, type TestedQueue } from './tested.queue.js';

/** CrashRunEnd is how a job ended that was crashed once and recovered. */
export interface CrashRunEnd {
  /** killed is the statement at which its connection was killed; undefined where its run had ended before. */
  readonly killed: string | undefined;
  /** problem is why the job did not end. */
  readonly problem: string | undefined;
  readonly statements: readonly string[];
}

/** So many attempts a job has that is crashed: it must not be out of them before it has recovered. */
const ATTEMPTS = 100;
const MAX_RECOVERIES = 10;
const PATIENCE_MS = 10_000;

/** CrashRun runs one job with one crash, and again without until it has ended. */
export class CrashRun {
  private readonly claim: NamedClaim;
  private readonly runner: KitRunner;

  constructor(
    private readonly queue: TestedQueue,
    private readonly definition: AnyJobDefinition,
    deadlineMs: number,
  ) {
    const { kind } = definition;
    const { kinds: { [kind]: overrides, ...others } = {}, ...run } = queue.options.run;
    const { maxAttempts: _fewer, ...rest } = overrides ?? {};
    const options = { ...queue.options, run: { ...run, kinds: { ...others, [kind]: rest } } };
    this.runner = new KitRunner({ ...queue, options }, { deadlineMs, kinds: [kind], slots: 1 });
    this.claim = new NamedClaim(queue, this.runner.plans.get(kind)!);
  }

  close(): Promise<void> {
    return this.runner.close();
  }

  async perform(payload: unknown, point: CrashPoint | undefined): Promise<CrashRunEnd> {
    const request = jobRequest(this.definition, payload, { maxAttempts: ATTEMPTS });
    const job = await this.claim.fresh(await encodeFor(this.queue, request), null);
    await this.warm();
    const tap = new StatementTap(poolOf(this.queue.database), point, (pid) => this.ended(pid, false));
    tap.open();
    let problem: string | undefined;
    try {
      problem = await this.once(job);
    } finally {
      await tap.close();
    }
    if (tap.killed) await this.ended(tap.killed.pid, true);
    // Undisturbed it has to end at once; after a crash it may come back.
    for (let tries = 1; problem !== undefined && tap.killed && tries <= MAX_RECOVERIES; tries += 1) {
      const again = await this.claim.again(job.id);
      if (!again) break;
      problem = await this.once(again);
    }
    return { killed: tap.killed?.statement, problem, statements: tap.statements };
  }

  /** ended waits until a backend is in no transaction any more, or `gone`; it is not waited for longer than what follows would wait for its locks. */
  private async ended(pid: number, gone: boolean): Promise<void> {
    const until = performance.now() + PATIENCE_MS;
    while (performance.now() < until) {
      const { rows } = await this.queue.connections.query<{ state: string | null }>(
        'SELECT state FROM pg_stat_activity WHERE pid = $1::integer',
        [pid],
      );
      const [backend] = rows;
      if (!backend || (!gone && backend.state === 'idle')) return;
      await pause(5, new AbortController().signal);
    }
  }

  /** once runs one attempt and answers why the job has not ended with it, or undefined. */
  private async once(job: ClaimedJob): Promise<string | undefined> {
    const [end] = await this.runner.run([job]);
    if (end?.type === 'job.completed' || end?.type === 'job.refused') return undefined;
    const error = end && 'error' in end ? `: ${String(end.error)}` : '';
    return `its last run ended as ${end?.type ?? 'nothing'}${error}`;
  }

  /** The first transaction on a connection asks the server once more than the others do: each run begins on one that has been used. */
  private async warm(): Promise<void> {
    const open = await this.queue.database.begin();
    await open.rollback();
  }
}
