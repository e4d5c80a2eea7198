import type { ControlConnections, SchemaName } from '@holdfast/kernel';
import type { Lease } from '../domain/lease.js';
import { byJobId } from './job.id.js';
import { boundedDelay } from './settlement.document.js';
import { deleteRunRows } from './sql/delete-run-rows.sql.js';
import { holdRun } from './sql/hold-run.sql.js';
import { renewLeases, type LeasesParams } from './sql/renew-leases.sql.js';

/**
 * RunRows keeps the narrow rows of this process's runs (Q16): renewals and holds.
 *
 * It remembers which runs have such rows, so that a settlement of any other costs nothing more. They are removed after the settlement and not within it: inside
 * a REPEATABLE READ handler's transaction the removal of a row that was renewed meanwhile would be a serialization failure.
 */
export class RunRows {
  private readonly kept = new Map<string, Lease>();

  constructor(
    private readonly keeper: ControlConnections,
    private readonly schema: SchemaName,
  ) {}

  async hold(lease: Lease): Promise<boolean> {
    this.kept.set(keyOf(lease), lease);
    const { rows } = await this.keeper.run(holdRun, this.schema, lease);
    if (rows.length === 0) this.kept.delete(keyOf(lease));
    return rows.length > 0;
  }

  /** remove deletes the rows of runs that are over. It never rejects: a row left behind names a token that is over. */
  async remove(leases: readonly Lease[]): Promise<void> {
    const kept = leases.filter((lease) => this.kept.delete(keyOf(lease)));
    if (kept.length === 0) return;
    await this.keeper.run(deleteRunRows, this.schema, byId(kept)).catch(() => undefined);
  }

  async renew(leases: readonly Lease[], leaseMs: number): Promise<Lease[]> {
    if (leases.length === 0) return [];
    for (const lease of leases) this.kept.set(keyOf(lease), lease);
    const params = { ...byId(leases), leaseMs: boundedDelay(leaseMs) };
    const { rows } = await this.keeper.run(renewLeases, this.schema, params);
    const held = new Set(rows.map(({ id, token }) => keyOf({ jobId: id, token })));
    for (const lease of leases) if (!held.has(keyOf(lease))) this.kept.delete(keyOf(lease));
    return leases.filter((lease) => held.has(keyOf(lease)));
  }
}

/** byId answers each lease once, in the order of ids. */
function byId(leases: readonly Lease[]): LeasesParams {
  const single = [...new Map(leases.map((lease) => [keyOf(lease), lease])).values()];
  const sorted = single.sort((a, b) => byJobId(a.jobId, b.jobId));
  return { ids: sorted.map(({ jobId }) => jobId), tokens: sorted.map(({ token }) => token) };
}

function keyOf({ jobId, token }: Lease): string {
  return `${jobId} ${token}`;
}
