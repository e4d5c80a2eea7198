import { ControlConnections } from '@holdfast/kernel';
import type { Provider } from '@nestjs/common';
import type { ResolvedQueueOptions } from '../assembly/queue.options.js';
import { housekeepingOf, leadershipOf, ledgerOf, rosterOf, schedulerOf } from '../assembly/queue.parts.js';
import { JobHandlerRegistry } from '../handlers/job-handler.registry.js';
import { LeadershipHealthIndicator } from '../health/leadership.health-indicator.js';
import { DutyLedger } from '../ports/duty.ledger.js';
import { Housekeeping } from '../ports/housekeeping.js';
import { JobStore } from '../ports/job-store.js';
import { Leadership } from '../ports/leadership.js';
import { Reporter } from '../ports/reporter.js';
import { RunnerRoster } from '../ports/runner.roster.js';
import { DutyDiscovery } from '../scheduler/duty.discovery.js';
import { DutyRegistry } from '../scheduler/duty.registry.js';
import { LeaderDutyExplorer } from '../scheduler/leader-duty.explorer.js';
import { Scheduler } from '../scheduler/scheduler.js';
import { QUEUE_OPTIONS } from './queue.module-options.js';

/** What a process with the role schedule provides to the application besides. */
export const SCHEDULE_EXPORTS = [Leadership, LeadershipHealthIndicator, Reporter, Scheduler];

/** Any process may read the last runs of duties, and each runner says that it is there. */
export const ledgerProviders: Provider[] = [
  { provide: DutyLedger, inject: [QUEUE_OPTIONS, ControlConnections], useFactory: ledgerOf },
  { provide: RunnerRoster, inject: [QUEUE_OPTIONS, ControlConnections], useFactory: rosterOf },
];

export const scheduleProviders: Provider[] = [
  DutyDiscovery,
  LeaderDutyExplorer,
  { provide: Housekeeping, inject: [QUEUE_OPTIONS, ControlConnections], useFactory: housekeepingOf },
  { provide: DutyRegistry, useFactory: () => new DutyRegistry() },
  { provide: Leadership, inject: [QUEUE_OPTIONS, ControlConnections], useFactory: leadershipOf },
  {
    provide: LeadershipHealthIndicator,
    inject: [Scheduler],
    useFactory: (scheduler: Scheduler) => new LeadershipHealthIndicator(() => scheduler.vitals),
  },
  {
    provide: Scheduler,
    inject: [
      QUEUE_OPTIONS,
      DutyRegistry,
      Leadership,
      DutyLedger,
      Housekeeping,
      Reporter,
      RunnerRoster,
      JobStore,
      { token: JobHandlerRegistry, optional: true },
    ],
    useFactory: (
      options: ResolvedQueueOptions,
      duties: DutyRegistry,
      leadership: Leadership,
      ledger: DutyLedger,
      housekeeping: Housekeeping,
      reporter: Reporter,
      roster: RunnerRoster,
      store: JobStore,
      handlers?: JobHandlerRegistry,
    ) => schedulerOf(options, { duties, handlers, housekeeping, leadership, ledger, reporter, roster, store }),
  },
];
