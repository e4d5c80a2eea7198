import type { Database } from '@holdfast/kernel';
import { PoolTooSmallError } from '../errors/pool-too-small.error.js';
import type { JobStore } from '../ports/job-store.js';
import type { ConnectionRole } from '../ports/runner.events.js';
import type { KindPlan } from './kind.plan.js';

/** ConnectionPlan is how many connections each role of a runner holds at most (R19). */
export interface ConnectionPlan {
  readonly roles: readonly ConnectionRole[];
  readonly warnings: readonly string[];
}

/**
 * planConnections adds up what the slots need of the application's pool: one connection for each attached run at once, one for the finishes of
 * detached runs. Throws PoolTooSmallError with the sum when the pool cannot carry it.
 */
export function planConnections(
  database: Database,
  store: JobStore,
  plans: readonly KindPlan[],
  slots: number,
): ConnectionPlan {
  const { poolSize } = database;
  const attached = Math.min(
    slots,
    sumOf(plans, ({ entry }) => entry.mode !== 'detached'),
  );
  const finishing = sumOf(plans, ({ entry }) => entry.mode === 'detached') > 0 ? 1 : 0;
  const needed = Math.min(attached + finishing, attached === slots ? slots : Infinity);
  const sum = `${attached} attached runs at once${needed > attached ? ' + 1 for ctx.finish' : ''}`;
  if (poolSize < needed) throw new PoolTooSmallError(poolSize, needed, sum);
  const warnings =
    poolSize === needed && attached > 0
      ? [
          `The runs may use the whole pool of ${poolSize}: whatever else uses it waits for them; a handler that does waits for itself.`,
        ]
      : [];
  const roles = [
    { connections: needed, role: `handlers (of the application's pool of ${poolSize})` },
    ...Object.entries(store.connections).map(([role, connections]) => ({ connections, role })),
  ];
  return { roles, warnings };
}

/** A group of runs has one connection, and runs its members one after another when it has failed (R21). */
function sumOf(plans: readonly KindPlan[], which: (plan: KindPlan) => boolean): number {
  return plans.filter(which).reduce((sum, { concurrency, group }) => sum + (group?.lanes ?? concurrency), 0);
}
