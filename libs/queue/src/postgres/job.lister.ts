import type { ControlConnections, SchemaName, Statement } from '@holdfast/kernel';
import { JobState, type JobStateName } from '../domain/job-state.js';
import type { JobPage, ListOptions } from '../domain/job.listing.js';
import type { JobStatus } from '../domain/job.status.js';
import {
  decodeCursor,
  encodeCursor,
  FIRST_MOMENT,
  LAST_ID,
  LAST_MOMENT,
  type KeyPart,
  type ListPlace,
  type ListSection,
} from '../domain/list.cursor.js';
import { checkFilter, FIRST_KIND, LAST_KIND, limitOf } from '../domain/listing.check.js';
import { jobStatusOf } from './job.status.row.js';
import { namingMissingTables } from './missing.tables.js';
import {
  type ListedRow,
  listFinished,
  type ListJobsParams,
  listPending,
  listRunning,
  listSuspects,
} from './sql/list-jobs.sql.js';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;
/** LIST_OPTIONS are the options of a list. */
export const LIST_OPTIONS = ['cursor', 'errorCode', 'kind', 'limit', 'state', 'tenantId'];
/** How many rows of a section a page looks at, where no index knows which of them match. */
const SCAN = 2_000;
const FIRST = String(FIRST_MOMENT);

interface SectionShape {
  /** parts of its key. */
  readonly parts: readonly KeyPart[];
  readonly start: (firstKind: string) => readonly string[];
  readonly state: JobStateName;
  readonly statement: Statement<ListJobsParams, ListedRow>;
}

const live = { parts: ['kind', 'moment', 'number'], start: (kind: string) => [kind, FIRST, '0'] } as const;
const finished = {
  parts: ['moment', 'number'],
  start: () => [String(LAST_MOMENT), String(LAST_ID)],
  statement: listFinished,
} as const;

/** SECTIONS in the order of a list that names no state. */
const SECTIONS: Readonly<Record<ListSection, SectionShape>> = {
  running: { ...live, state: 'RUNNING', statement: listRunning },
  pending: {
    parts: ['kind', 'number', 'moment', 'number'],
    start: (kind) => [kind, '-1', FIRST, '0'],
    state: 'PENDING',
    statement: listPending,
  },
  suspect: { ...live, state: 'PENDING', statement: listSuspects },
  dead: { ...finished, state: 'DEAD_LETTER' },
  failed: { ...finished, state: 'FAILED' },
  cancelled: { ...finished, state: 'CANCELLED' },
  succeeded: { ...finished, state: 'SUCCEEDED' },
};

/** JobLister lists jobs page by page: each section by the index that orders it, so that a page costs the same however many there are (A1). */
export class JobLister {
  constructor(
    private readonly connections: ControlConnections,
    private readonly schema: SchemaName,
  ) {}

  async list(options: ListOptions = {}): Promise<JobPage> {
    checkFilter(options, LIST_OPTIONS);
    const limit = limitOf(options.limit, DEFAULT_LIMIT, MAX_LIMIT);
    const names = (Object.keys(SECTIONS) as ListSection[]).filter(
      (name) => options.state === undefined || SECTIONS[name].state === options.state,
    );
    let place: ListPlace | undefined =
      options.cursor === undefined
        ? { key: undefined, section: names[0]! }
        : decodeCursor(options.cursor, names, (name) => SECTIONS[name].parts);
    const jobs: JobStatus[] = [];
    let next: ListPlace | undefined = place;
    while (next && jobs.length < limit) {
      place = next;
      const { end, key, rows } = await this.read(place, options, limit - jobs.length);
      jobs.push(...rows.map(jobStatusOf));
      const section: ListSection = place.section;
      const following: ListSection | undefined = names[names.indexOf(section) + 1];
      next = end ? following && { key: undefined, section: following } : { key, section };
      if (!end) break;
    }
    return { cursor: next ? encodeCursor(next) : null, jobs };
  }

  private async read(
    { key, section }: ListPlace,
    { errorCode, kind, tenantId }: ListOptions,
    limit: number,
  ): Promise<{ end: boolean; key: string[]; rows: ListedRow[] }> {
    const { start, state, statement } = SECTIONS[section];
    const firstKind = kind ?? FIRST_KIND;
    const scan = tenantId === undefined && errorCode === undefined ? limit + 1 : SCAN;
    const params: ListJobsParams = {
      errorCode: errorCode ?? null,
      firstKind,
      key: key ?? start(firstKind),
      lastKind: kind ?? LAST_KIND,
      limit,
      scan,
      state: JobState[state],
      tenantId: tenantId ?? null,
    };
    const { rows } = await namingMissingTables(
      this.schema,
      this.connections.run<ListJobsParams, ListedRow>(statement, this.schema, params),
    );
    const picked = rows.filter(({ matches }) => matches);
    const last = rows.at(-1);
    const all = (last?.scanned ?? 0) < scan;
    // Behind a full part there may be others: of those that were looked at, or behind them.
    const full = picked.length === limit;
    const end = all && (!full || last === picked.at(-1));
    return { end, key: (full ? picked : rows).at(-1)?.key ?? [], rows: picked };
  }
}
