import { Pool, type Client, type PoolConfig } from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { waitFor } from '../wait/wait-for.js';

/** TestPoolOptions are those of a `pg` pool, and whether the testbed listens to the errors of its idle clients. */
export interface TestPoolOptions extends PoolConfig {
  /** listen is true by default: without a listener a terminated idle client ends the process. False shows whether the code under test has its own. */
  readonly listen?: boolean;
}

/** TestDataSourceOptions are those of a TypeORM DataSource for PostgreSQL; the address is given by the testbed. */
export type TestDataSourceOptions = Partial<Omit<Extract<DataSourceOptions, { type: 'postgres' }>, 'type'>>;

const SETTLE_MS = 2_000;

/** OwnedPools are the pools and data sources of one test database, to be looked over and ended with it. */
export class OwnedPools {
  private readonly dataSources: DataSource[] = [];
  private readonly pools: { readonly name: string; readonly pool: Pool }[] = [];

  constructor(private readonly url: string) {}

  /** close ends them all and answers which had clients checked out: those are leaks, and their pools are not waited for. */
  async close(): Promise<string[]> {
    const leaks: string[] = [];
    for (const { name, pool } of [...this.pools, ...this.poolsOfDataSources()]) {
      if (await idle(pool)) continue;
      leaks.push(`${name}: ${busy(pool)} of ${pool.totalCount} clients never came back`);
      quieten(pool);
    }
    const open = [
      ...this.dataSources.filter((source) => source.isInitialized).map((source) => source.destroy()),
      ...this.pools.filter(({ pool }) => !pool.ended && !pool.ending).map(({ pool }) => pool.end()),
    ];
    if (leaks.length === 0) await Promise.all(open);
    else void Promise.allSettled(open);
    return leaks;
  }

  /** dataSource answers an initialised TypeORM DataSource. */
  async dataSource(options: TestDataSourceOptions = {}): Promise<DataSource> {
    const source = new DataSource({ ...options, type: 'postgres', url: options.url ?? this.url });
    await source.initialize();
    this.dataSources.push(source);
    return source;
  }

  /** pool answers a `pg` pool. */
  pool(options: TestPoolOptions = {}): Pool {
    const { listen = true, ...config } = options;
    const pool = new Pool({ connectionString: this.url, ...config });
    if (listen) pool.on('error', () => undefined);
    this.pools.push({ name: `pool ${this.pools.length + 1}`, pool });
    return pool;
  }

  private poolsOfDataSources(): { name: string; pool: Pool }[] {
    return this.dataSources
      .filter((source) => source.isInitialized)
      .map((source, i) => ({
        name: `data source ${i + 1}`,
        pool: (source.driver as unknown as { master: Pool }).master,
      }));
  }
}

function busy(pool: Pool): number {
  return pool.totalCount - pool.idleCount;
}

/** quieten listens to the errors of leaked clients: the database is dropped under them, and the report is to be the leak, not that. */
function quieten(pool: Pool): void {
  for (const client of (pool as unknown as { _clients: Client[] })._clients) client.on('error', () => undefined);
}

async function idle(pool: Pool): Promise<boolean> {
  const settled = waitFor(() => busy(pool) === 0, { deadlineMs: SETTLE_MS, what: 'the clients to come back' });
  return settled.catch(() => false);
}
