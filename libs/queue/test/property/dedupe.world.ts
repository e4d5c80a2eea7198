import { randomUUID } from 'node:crypto';
import { executorOf } from '@holdfast/kernel';
import type { Client, Pool } from 'pg';
import type { EncodedRequest } from '../../src/domain/request.js';
import type { Settlement } from '../../src/domain/settlement.js';
import type { JobStore } from '../../src/ports/job-store.js';
import type { Command, ISOLATIONS } from './dedupe.commands.js';
import { DedupeModel, type ModelRequest, type ModelRun } from './dedupe.model.js';

const TENANTS = [null, 'acme'] as const;
const LEASE_MS = 600_000;

interface Caller {
  readonly client: Client;
  /** levels are the requests of the open transaction, one list per open savepoint; empty when none is open. */
  levels: ModelRequest[][];
}

interface LiveRow {
  readonly due_at: string;
  readonly id: string;
  readonly state: number;
  readonly tenant: string;
  readonly token: string | null;
}

/** DedupeWorld plays commands on real connections and on the model, and checks after each that they agree (Q4, Q6). */
export class DedupeWorld {
  readonly kind = `prop.k${randomUUID().replaceAll('-', '')}`;
  readonly model: DedupeModel;
  private readonly callers: readonly Caller[];
  private readonly pending = new Map<string, LiveRow>();

  constructor(
    clients: readonly Client[],
    private readonly observer: Pool,
    private readonly schema: string,
    private readonly store: JobStore,
    private readonly whenRunning: 'merge' | 'rerun',
  ) {
    this.callers = clients.map((client) => ({ client, levels: [] }));
    this.model = new DedupeModel(whenRunning);
  }

  async play(command: Command): Promise<void> {
    switch (command.type) {
      case 'begin':
        return this.begin(this.callers[command.caller]!, command.isolation);
      case 'enqueue':
        return this.enqueue(this.callers[command.caller]!, TENANTS[command.tenant] ?? null, command.dueInMs);
      case 'intake':
        return void (await this.store.intake(100));
      case 'claim':
        return this.claim();
      case 'hold':
        return this.hold(this.pick(command.run));
      case 'end':
        return this.end(this.pick(command.run), command.how);
      default:
        return this.control(this.callers[command.caller]!, command.type);
    }
  }

  /** check asserts what must hold after every step. */
  async check(): Promise<void> {
    const rows = await this.liveRows();
    const tenants = rows.map((row) => row.tenant);
    if (new Set(tenants).size !== tenants.length) throw new Error(`Two live jobs share a key: ${JSON.stringify(rows)}`);
    const leases = rows.filter((row) => row.state === 1).map((row) => `${row.id} ${row.token}`);
    const expected = this.model.running.map((run) => `${run.jobId} ${run.lease.token}`);
    if (leases.sort().join() !== expected.sort().join())
      throw new Error(`Leases differ: table ${leases.join()}, model ${expected.join()}`);
    this.checkDue(rows);
    await this.checkAnswers();
  }

  /** settle ends every open transaction and run, and runs what is left until nothing is. */
  async quiesce(): Promise<void> {
    for (const caller of this.callers) if (caller.levels.length > 0) await this.control(caller, 'commit');
    for (let round = 0; round < 20; round += 1) {
      for (const run of this.model.running) await this.end(run, 'complete');
      await this.store.intake(1_000);
      await this.observer.query(
        `UPDATE ${this.schema}.job SET due_at = now() - interval '1 hour' WHERE kind = $1 AND state = 0`,
        [this.kind],
      );
      await this.claim();
      await this.claim();
      await this.check();
      if (this.model.running.length === 0 && (await this.requestsLeft()) === 0 && (await this.liveRows()).length === 0)
        return;
    }
    throw new Error('The queue of this key does not come to rest.');
  }

  private async begin(caller: Caller, isolation: (typeof ISOLATIONS)[number]): Promise<void> {
    if (caller.levels.length > 0) return;
    await caller.client.query(`BEGIN ISOLATION LEVEL ${isolation}`);
    // The first statement fixes the snapshot of the stricter levels, so that it can be old by the time of the enqueue.
    await caller.client.query('SELECT 1');
    caller.levels = [[]];
  }

  private async enqueue(caller: Caller, tenantId: string | null, dueInMs: number): Promise<void> {
    if (caller.levels.length === 0) await this.begin(caller, 'READ COMMITTED');
    const answer = await this.store.enqueue(this.request(tenantId, dueInMs), executorOf(caller.client));
    caller.levels.at(-1)!.push(this.model.enqueued(answer.id, tenantId ?? ''));
  }

  private request(tenantId: string | null, dueInMs: number): EncodedRequest {
    return {
      dedupeKey: 'the-key',
      dueAt: null,
      dueInMs: dueInMs === 0 ? null : dueInMs,
      kind: this.kind,
      maxAttempts: 100,
      payloadJson: '{}',
      payloadVersion: 1,
      priority: 5,
      replacePayload: false,
      tenantId,
      whenRunning: this.whenRunning,
    };
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

  private async claim(): Promise<void> {
    const order = () => ({
      fullLook: true,
      kinds: [{ kind: this.kind, leaseMs: LEASE_MS, limit: 1 }],
      limit: 1,
      owner: 'property',
      token: randomUUID(),
    });
    const job = (await this.store.claim(order()))[0] ?? (await this.store.claimSuspect(order()));
    if (job) this.model.claimed(job.id, job.tenantId ?? '', job.lease);
  }

  private async hold(run: ModelRun | undefined): Promise<void> {
    if (!run) return;
    if (!(await this.store.hold(run.lease))) throw new Error('A hold on a held lease was refused.');
    run.held = true;
  }

  private async end(run: ModelRun | undefined, how: string): Promise<void> {
    if (!run) return;
    this.pending.delete(run.jobId);
    if (how === 'crash') {
      await this.observer.query(
        `UPDATE ${this.schema}.job SET lease_until = now() - interval '1 second' WHERE id = $1`,
        [run.jobId],
      );
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

  private checkDue(rows: readonly LiveRow[]): void {
    for (const row of rows) {
      const before = this.pending.get(row.id);
      if (row.state === 0 && before?.state === 0 && row.due_at > before.due_at)
        throw new Error(`A request delayed job ${row.id}.`);
      this.pending.set(row.id, row);
    }
  }

  private async checkAnswers(): Promise<void> {
    const ids = this.model.requests.map((request) => request.answeredId);
    const { rows } = await this.observer.query<{ id: string }>(
      `SELECT id::text FROM unnest($1::bigint[]) id WHERE NOT EXISTS (SELECT FROM ${this.schema}.job j WHERE j.id = id.id)
         AND NOT EXISTS (SELECT FROM ${this.schema}.job_request r WHERE r.id = id.id)
         AND NOT EXISTS (SELECT FROM ${this.schema}.job_alias a WHERE a.request_id = id.id)`,
      [ids],
    );
    if (rows.length > 0) throw new Error(`Answers name nothing: ${rows.map((row) => row.id).join()}`);
  }

  private async liveRows(): Promise<LiveRow[]> {
    const { rows } = await this.observer.query<LiveRow>(
      `SELECT id::text, coalesce(tenant_id, '') AS tenant, state, lease_token::text AS token,
              to_char(due_at AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS') AS due_at
         FROM ${this.schema}.job WHERE kind = $1 AND state IN (0, 1)`,
      [this.kind],
    );
    return rows;
  }

  private pick(index: number): ModelRun | undefined {
    const running = this.model.running;
    return running[index % Math.max(running.length, 1)];
  }

  private async requestsLeft(): Promise<number> {
    const { rows } = await this.observer.query(`SELECT FROM ${this.schema}.job_request WHERE kind = $1`, [this.kind]);
    return rows.length;
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
    case 'refuse':
      return { verb: 'refuse', code: 'test.refused', params: null };
    case 'bury':
      return { verb: 'bury', failure };
    default:
      return { verb: 'giveBack' };
  }
}
