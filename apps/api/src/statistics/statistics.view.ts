import type { RepositoryStatisticsEntity } from '@holdfast/hub';

/** StatisticsView is what a repository's events came to. */
export interface StatisticsView {
  readonly repository: string;
  /** types are in the order of their names. */
  readonly types: readonly {
    readonly events: number;
    readonly lastEventAt: string;
    readonly lastEventId: string;
    readonly type: string;
  }[];
}

/** statisticsView writes the rows of one repository as they are shown. */
export function statisticsView(repository: string, rows: readonly RepositoryStatisticsEntity[]): StatisticsView {
  const types = rows.map(({ events, eventType, lastEventAt, lastEventId }) => ({
    type: eventType,
    events: Number(events),
    lastEventAt: lastEventAt.toISOString(),
    lastEventId,
  }));
  return { repository, types };
}
