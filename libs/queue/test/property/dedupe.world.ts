import { randomUUID } from 'node:crypto';
import { executorOf } from '@holdfast/kernel';
import type { Client } from 'pg';
import type { EncodedRequest } from '../../src/domain/request.js';
import type { Settlement } from '../../src/domain/settlement.js';
import type { Jobs } from '../../src/ports/jobs.js';
import type { JobStore } from '../../src/ports/job-store.js';
import { DedupeChecks } from './dedupe.checks.js';
import type { AskCommand, Asked, Command, ISOLATIONS, Meanwhile } from './dedupe.commands.js';
import { DedupeModel, type ModelRequest, type ModelRun } from './dedupe.model.js';
import type { DedupeTable } from './dedupe.table.js';

const TENANTS = [null, 'acme'] as const;
const HOUR_MS = 3_600_000;
const LEASE_MS = 600_000;
/** How much later than asked a job may be due: the clocks of model and database differ, and steps take a while. */
const SLACK_MS = 600_000;

const PLAIN = { after: 'nothing', before: 'nothing', dueInMs: 0, isolation: 'READ COMMITTED', replace: false } as const;

interface Caller {
  readonly client: Client;
  isolation: (typeof ISOLATIONS)[number];
  /** levels are the requests of the open transaction, one list per open savepoint; empty when none is open. */
  levels: ModelRequest[][];
}

/** WorldParts are what a world plays on. */
export interface WorldParts {
  readonly clients: readonly Client[];
  readonly jobs: Jobs;
  readonly store: JobStore;
  readonly table: (kind: string) => DedupeTable;
  readonly whenRunning: 'merge' | 'rerun';
}

/** DedupeWorld plays commands on real connections and on the model, and checks after each that they agree (Q4, Q5, Q6). */
export class DedupeWorld {
  private readonly callers: readonly Caller[];
  private readonly checks: DedupeChecks;
  private readonly kind = `prop.k${randomUUID().replaceAll('-', '')}`;
  private readonly model: DedupeModel;
  private numbers = 0;
  private readonly store: JobStore;
  private readonly table: DedupeTable;

  constructor(private readonly parts: WorldParts) {
    this.callers = parts.clients.map((client) => ({ client, isolation: 'READ COMMITTED', levels: [] }));
    this.model = new DedupeModel(parts.whenRunning);
    this.store = parts.store;
    this.table = parts.table(this.kind);
    this.checks = new DedupeChecks(this.model, this.table, parts.jobs);
  }

  async play(command: Command): Promise<void> {
    await this.step(command);
    await this.checks.afterStep();
    if (command.type === 'intake') await this.checks.answers();
  }

  /** quiesce ends every open transaction and run, and runs what is left until nothing is. */
  async quiesce(): Promise<void> {
    for (const caller of this.callers) if (caller.levels.length > 0) await this.control(caller, 'commit');
    for (let round = 0; round < 20; round += 1) {
      for (const run of this.model.running) await this.end(run, 'complete');
      await this.store.intake(1_000);
      await this.checks.afterStep();
      await this.makeDue();
      await this.claim();
      await this.claim();
      await this.checks.afterStep();
      if (this.model.running.length > 0) continue;
      if ((await this.table.requests()).length === 0 && (await this.table.live()).length === 0)
        return this.checks.atRest();
    }
    throw new Error('The queue of this key does not come to rest.');
  }

  private async ask({ after, before, isolation, ...asked }: Omit<AskCommand, 'type'>): Promise<void> {
    const caller = this.callers.find(({ levels }) => levels.length === 0);
    if (!caller) return;
    await this.begin(caller, isolation);
    await this.happen(before, asked.tenant);
    await this.enqueue(caller, asked);
    await this.happen(after, asked.tenant);
    await this.control(caller, 'commit');
  }

  private async begin(caller: Caller, isolation: (typeof ISOLATIONS)[number]): Promise<void> {
    if (caller.levels.length > 0) return;
    await caller.client.query(`BEGIN ISOLATION LEVEL ${isolation}`);
    // The first statement fixes the snapshot of the stricter levels, so that it can be old by the time of the enqueue.
    await caller.client.query('SELECT 1');
    caller.isolation = isolation;
    caller.levels = [[]];
  }

  private async claim(): Promise<void> {
    const order = () => ({
      fullLook: true,
      kinds: [{ kind: this.kind, leaseMs: LEASE_MS, limit: 1 }],
      limit: 1,
      owner: 'property',
      token: randomUUID(),
    });
    const job = (await this.store.claim(order()))[0] ?? (await this.store.claimSuspect(order()));
    if (!job) return;
    const { n: number } = job.payload as { n: number };
    this.model.claimed({ jobId: job.id, lease: job.lease, number, tenant: job.tenantId ?? '' });
  }

  private async control(
    caller: Caller,
    type: 'savepoint' | 'rollbackToSavepoint' | 'commit' | 'rollback',
  ): Promise<void> {
    if (caller.levels.length === 0) return;
    if (type === 'savepoint') {
      await caller.client.query(`SAVEPOINT s${caller.levels.length}`);
      caller.levels.push([]);
    } else if (type === 'rollbackToSavepoint') {
      if (caller.levels.length < 2) return;
      caller.levels.pop();
      await caller.client.query(`ROLLBACK TO SAVEPOINT s${caller.levels.length}`);
    } else {
      const requests = caller.levels.flat();
      caller.levels = [];
      await caller.client.query(type);
      if (type === 'commit') this.model.commit(requests);
    }
  }

  private async end(run: ModelRun | undefined, how: string): Promise<void> {
    if (!run) return;
    this.checks.forget(run.jobId);
    if (how === 'crash') {
      await this.table.expireLease(run.jobId);
      const reaped = await this.store.reap([this.kind], 10);
      if (![...reaped.returned, ...reaped.deadLettered].some((job) => job.id === run.jobId))
        throw new Error('An expired lease was not reaped.');
    } else {
      const held = await this.store.settle([{ lease: run.lease, settlement: settlementOf(how) }]);
      if (held[0] !== true) throw new Error(`The settlement ${how} of a held lease changed nothing.`);
    }
    this.model.end(run);
    const late = await this.store.settle([{ lease: run.lease, settlement: settlementOf('complete') }]);
    if (late[0] !== false) throw new Error('A stale token settled a job.');
  }

  private async enqueue(caller: Caller, command: Asked): Promise<void> {
    if (caller.levels.length === 0) await this.begin(caller, 'READ COMMITTED');
    const tenant = TENANTS[command.tenant] ?? null;
    const number = (this.numbers += 1);
    const live = (await this.table.live()).find((row) => row.tenant === (tenant ?? ''));
    const answer = await this.store.enqueue(this.request(tenant, number, command), executorOf(caller.client));
    if (caller.isolation === 'READ COMMITTED') this.checks.answer(answer, live);
    const dueBy = Date.now() + command.dueInMs + SLACK_MS;
    caller.levels
      .at(-1)!
      .push(this.model.enqueued({ answer, dueBy, number, replace: command.replace, tenant: tenant ?? '' }));
  }

  private async happen(meanwhile: Meanwhile, tenant: number): Promise<void> {
    const run = this.model.running.find((running) => running.tenant === (TENANTS[tenant] ?? ''));
    if (meanwhile === 'nothing') return;
    if (meanwhile === 'hold') return this.hold(run);
    await this.end(run, meanwhile === 'again' ? 'repeat' : 'complete');
    if (meanwhile === 'again') await this.claim();
    if (meanwhile === 'restart') await this.start(tenant);
  }

  private async hold(run: ModelRun | undefined): Promise<void> {
    if (!run) return;
    if (!(await this.store.hold(run.lease))) throw new Error('A hold on a held lease was refused.');
    run.held = true;
  }

  private async makeDue(): Promise<void> {
    await this.table.makeDue();
    this.checks.forget();
  }

  private pick(index: number): ModelRun | undefined {
    const running = this.model.running;
    return running[index % Math.max(running.length, 1)];
  }

  private request(tenantId: string | null, number: number, { dueInMs, replace }: Asked): EncodedRequest {
    return {
      dedupeKey: 'the-key',
      dueAt: null,
      dueInMs: dueInMs === 0 ? null : dueInMs,
      kind: this.kind,
      maxAttempts: 100,
      payloadJson: JSON.stringify({ n: number }),
      payloadVersion: 1,
      priority: 5,
      replacePayload: replace,
      tenantId,
      whenRunning: this.parts.whenRunning,
    };
  }

  /** requeue is refused where a job of the key is live, and told to come again only where somebody may hold the key. */
  private async requeue(index: number): Promise<void> {
    const ended = await this.table.ended();
    const job = ended[index % Math.max(ended.length, 1)];
    if (!job) return;
    const live = (await this.table.live()).find(({ tenant }) => tenant === job.tenant);
    const { answer, live_id: liveId } = await this.table.requeue(job.id);
    const held = this.callers.some(({ levels }) => levels.length > 0);
    const right = live ? answer === 'key_taken' && liveId === live.id : answer === 'requeued';
    if (!right && !(held && answer === 'busy')) throw new Error(`A requeue was answered with ${answer} ${liveId}.`);
    this.checks.forget(job.id);
  }

  /** start takes the key to a run. */
  private async start(tenant: number): Promise<void> {
    await this.ask({ ...PLAIN, tenant });
    await this.store.intake(100);
    await this.checks.afterStep();
    await this.makeDue();
    await this.claim();
  }

  private async step(command: Command): Promise<void> {
    switch (command.type) {
      case 'begin':
        return this.begin(this.callers[command.caller]!, command.isolation);
      case 'ask':
        return this.ask(command);
      case 'enqueue':
        return this.enqueue(this.callers[command.caller]!, command);
      case 'intake':
        return void (await this.store.intake(100));
      case 'lockedIntake':
        return this.table.whileLocked(() => this.store.intake(100));
      case 'claim':
        return this.claim();
      case 'start':
        return this.start(command.tenant);
      case 'hold':
        return this.hold(this.pick(command.run));
      case 'requeue':
        return this.requeue(command.job);
      case 'end':
        return this.end(this.pick(command.run), command.how);
      default:
        return this.control(this.callers[command.caller]!, command.type);
    }
  }
}

function settlementOf(how: string): Settlement {
  const failure = { attempt: 1, code: 'test.failed' };
  switch (how) {
    case 'complete':
      return { verb: 'complete', outcome: null };
    case 'repeat':
      return { verb: 'repeat', delayMs: 0, outcome: null };
    case 'retry':
      return { verb: 'retry', delayMs: 0, failure };
    case 'retryLater':
      return { verb: 'retry', delayMs: HOUR_MS, failure };
    case 'defer':
      return { verb: 'defer', delayMs: HOUR_MS, failure };
    case 'refuse':
      return { verb: 'refuse', code: 'test.refused', params: null };
    case 'bury':
      return { verb: 'bury', failure };
    default:
      return { verb: 'giveBack' };
  }
}
