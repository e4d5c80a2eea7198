import type { SchemaName, SqlExecutor } from '@holdfast/kernel';
import type { LeasedSettlement, SettleAnswer } from '../ports/job-store.js';
import { documentText, settlementDocument } from './settlement.document.js';
import { completeJobs } from './sql/complete-jobs.sql.js';
import { settleJobs, type SettledRow } from './sql/settle-jobs.sql.js';

/** SettlementBatch is some settlements of different jobs, as the statements take them: the completions by one, everything else by the other. */
export class SettlementBatch {
  private readonly completions: LeasedSettlement[];
  private readonly others: LeasedSettlement[];

  constructor(settlements: readonly LeasedSettlement[]) {
    this.completions = settlements.filter(({ settlement }) => settlement.verb === 'complete');
    this.others = settlements.filter(({ settlement }) => settlement.verb !== 'complete');
  }

  /** statements is how many statements `run` sends. */
  get statements(): number {
    return Number(this.completions.length > 0) + Number(this.others.length > 0);
  }

  /** run sends the statements and answers the jobs whose lease was still held, by id. */
  async run(executor: SqlExecutor, schema: SchemaName): Promise<Map<string, SettleAnswer>> {
    const held = new Map<string, SettleAnswer>();
    for (const { id } of await this.complete(executor, schema)) held.set(id, true);
    for (const { cancelled, id } of await this.settle(executor, schema)) held.set(id, cancelled ? 'cancelled' : true);
    return held;
  }

  private async complete(executor: SqlExecutor, schema: SchemaName): Promise<{ id: string }[]> {
    if (this.completions.length === 0) return [];
    const outcomes: Record<string, string> = {};
    const tokens: Record<string, string> = {};
    for (const { lease, settlement } of this.completions) {
      tokens[lease.jobId] = lease.token;
      if (settlement.verb === 'complete' && settlement.outcome !== null) outcomes[lease.jobId] = settlement.outcome;
    }
    return (await completeJobs.run(executor, schema, { ids: Object.keys(tokens), outcomes, tokens })).rows;
  }

  private async settle(executor: SqlExecutor, schema: SchemaName): Promise<SettledRow[]> {
    if (this.others.length === 0) return [];
    const ids = this.others.map(({ lease }) => lease.jobId);
    const documents = this.others.map(({ lease, settlement }) => [
      lease.jobId,
      settlementDocument(lease.token, settlement),
    ]);
    const settlements = documentText(Object.fromEntries(documents));
    return (await settleJobs.run(executor, schema, { ids, settlements })).rows;
  }
}

/** settlementBatches splits settlements so that no batch names a job twice: a late one of an old lease and that of the new lease are told apart. */
export function settlementBatches(
  settlements: readonly LeasedSettlement[],
): { indexes: number[]; batch: SettlementBatch }[] {
  const rounds: { ids: Set<string>; indexes: number[] }[] = [];
  settlements.forEach(({ lease }, index) => {
    let round = rounds.find(({ ids }) => !ids.has(lease.jobId));
    if (!round) rounds.push((round = { ids: new Set(), indexes: [] }));
    round.ids.add(lease.jobId);
    round.indexes.push(index);
  });
  return rounds.map(({ indexes }) => ({
    batch: new SettlementBatch(indexes.map((index) => settlements[index]!)),
    indexes,
  }));
}
