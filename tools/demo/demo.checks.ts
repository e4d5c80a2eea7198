import { expectedDeliveries, FAILURES } from './demo.plan.js';
import { between, exactly, sameCounts, type DemoCell, type DemoCheck } from './demo.report.js';
import type { TenantLedger } from './demo.ledger.js';
import type { DemoStack } from './demo.stack.js';
import type { HubSubscription, HubTenant } from './hub.tenant.js';
import { expectedStatistics } from './sample.events.js';

/** DemoFindings are the checks of each tenant, and those of the whole. */
export interface DemoFindings {
  readonly perTenant: readonly DemoCheck[];
  readonly whole: readonly DemoCheck[];
}

/** Some deliveries were on their way at each kill, or the kill would show nothing. */
export const IN_FLIGHT = 3;

type Cells = Readonly<Record<string, DemoCell>>;

/** demoFindings judges what became of it all; `inFlight` is how many deliveries were on their way at each kill. */
export async function demoFindings(stack: DemoStack, inFlight: readonly number[]): Promise<DemoFindings> {
  const { ledger, receiver, tenants } = stack;
  const columns: Cells[] = [];
  for (const tenant of tenants) columns.push(await cellsOf(stack, tenant));
  const rows = Object.keys(columns[0] ?? {});
  const cut = inFlight.reduce((sum, count) => sum + count, 0);
  return {
    perTenant: rows.map((what) => ({ cells: columns.flatMap((cells) => cells[what] ?? []), what })),
    whole: [
      ...inFlight.map((count, kill) => one(`in flight at kill ${kill + 1}`, between(IN_FLIGHT, Infinity, count))),
      one('deliveries that arrived twice', between(0, cut, receiver.duplicates)),
      one('deliveries that arrived nowhere', exactly(0, receiver.strays)),
      one('rows seen without a tenant', exactly(0, await ledger.unscoped())),
      one('jobs left', exactly(0, await ledger.left())),
    ],
  };
}

async function cellsOf({ ledger, tenants }: DemoStack, tenant: HubTenant): Promise<Cells> {
  const { accepted, id, plan, subscriptions } = tenant;
  const found = await ledger.tenant(id);
  const steady = subscriptions.filter(({ arrivedAtPause }) => arrivedAtPause === undefined);
  const expected = total(steady, (subscription) => expectedDeliveries(plan, subscription.plan));
  const others = tenants.filter((other) => other !== tenant);
  const shown = await Promise.all(others.map((other) => tenant.shown(other)));
  return {
    'events accepted': exactly(plan.events.length, accepted.size),
    'events stored': exactly(plan.events.length, found.events),
    'deliveries received, by distinct id': exactly(
      expected,
      total(steady, ({ endpoint }) => endpoint.distinct),
    ),
    'deliveries received, by event': exactly(
      expected,
      total(steady, ({ endpoint }) => endpoint.events),
    ),
    'deliveries recorded': exactly(
      expected,
      total(steady, (subscription) => found.delivered.get(subscription.id) ?? 0),
    ),
    'answered 503 at first': exactly(
      total(subscriptions, ({ plan: { manner } }) => (manner === 'fails at first' ? FAILURES : 0)),
      total(subscriptions, ({ endpoint }) => endpoint.failed),
    ),
    ...(await pausedCells(ledger, tenant, found)),
    'wrong signatures': exactly(
      0,
      total(subscriptions, ({ endpoint }) => endpoint.refused),
    ),
    'events of others received': exactly(
      0,
      total(subscriptions, ({ endpoint }) => endpoint.foreign),
    ),
    'things of others shown': exactly(
      0,
      shown.reduce((sum, count) => sum + count, 0),
    ),
    'things of its own shown': exactly(tenant.routes().length, await tenant.shown(tenant)),
    'statistics by repository and type': sameCounts(expectedStatistics(plan.events), found.statistics),
    'pollers of its retention': exactly(1, await ledger.pollers(id)),
  };
}

/** Whatever was queued for the paused subscription was refused, nothing else was, and nothing arrived there any more. */
async function pausedCells(
  ledger: DemoStack['ledger'],
  { id, subscriptions }: HubTenant,
  { delivered }: TenantLedger,
): Promise<Cells> {
  const paused = subscriptions.filter(({ arrivedAtPause }) => arrivedAtPause !== undefined);
  const counts = await Promise.all(
    paused.map(async (each) => ({ jobs: await ledger.jobsOf(each.id), refused: await ledger.refused(each.id) })),
  );
  const refused = counts.reduce((sum, each) => sum + each.refused, 0);
  const jobs = counts.reduce((sum, each) => sum + each.jobs, 0);
  const ended = refused + total(paused, (each) => delivered.get(each.id) ?? 0);
  return {
    'refused, as it is paused': paused.length > 0 ? between(1, jobs, refused) : exactly(0, refused),
    'refused at all': exactly(refused, await ledger.refusedAtAll(id)),
    'paused: delivered or refused': exactly(jobs, ended),
    'paused: arrived afterwards': exactly(
      0,
      total(paused, (each) => each.endpoint.distinct - (each.arrivedAtPause ?? 0)),
    ),
  };
}

function one(what: string, cell: DemoCell): DemoCheck {
  return { cells: [cell], what };
}

function total(subscriptions: readonly HubSubscription[], of: (subscription: HubSubscription) => number): number {
  return subscriptions.reduce((sum, subscription) => sum + of(subscription), 0);
}
