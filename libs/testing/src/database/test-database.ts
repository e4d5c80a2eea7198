import { Client, escapeIdentifier, escapeLiteral, type ClientConfig, type Pool, type QueryResultRow } from 'pg';
import type { DataSource } from 'typeorm';
import { waitFor } from '../wait/wait-for.js';
import { ADMIN_NAME, AdminConnection } from './admin.connection.js';
import { handOver } from './hand-over.js';
import { LeakedConnectionsError } from './leaked-connections.error.js';
import { OwnedPools, type TestDataSourceOptions, type TestPoolOptions } from './owned-pools.js';
import type { TestRole, TestRoleOptions } from './test-role.js';
import { testbed, uniqueName, urlOf } from './testbed.js';

const SETTLE_MS = 3_000;

/** TestDatabase is the database of one test file, its own alone. Drop it in `afterAll`: that is also the leak check. */
export class TestDatabase {
  readonly url: string;
  private readonly admin: AdminConnection;
  private readonly clients: Client[] = [];
  private readonly owned: OwnedPools;
  private readonly roles: TestRole[] = [];

  constructor(readonly name: string) {
    this.url = urlOf(name);
    this.admin = new AdminConnection(this.url);
    this.owned = new OwnedPools(this.url);
  }

  /** adminQuery answers the rows of a statement that the testbed's own superuser connection runs in this database. */
  adminQuery<Row extends QueryResultRow = QueryResultRow>(
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Row[]> {
    return this.admin.query<Row>(text, values);
  }

  /** backends answers the client connections to this database other than the testbed's own. */
  backends(): Promise<{ application_name: string; pid: number; query: string; state: string }[]> {
    return this.admin.query(
      `SELECT pid, application_name, coalesce(state, '') AS state, left(query, 200) AS query FROM pg_stat_activity
       WHERE datname = $1 AND backend_type = 'client backend' AND application_name <> $2`,
      [this.name, ADMIN_NAME],
    );
  }

  /** client answers a connected `pg` client of its own session; it is ended with the database. */
  async client(config: ClientConfig = {}): Promise<Client> {
    const client = new Client({ connectionString: this.url, ...config });
    client.on('error', () => undefined);
    await client.connect();
    this.clients.push(client);
    return client;
  }

  /** createRole makes an account that can log in to this database. */
  async createRole(options: TestRoleOptions = {}): Promise<TestRole> {
    const account = { name: uniqueName('role'), password: 'holdfast' };
    const role = { ...account, url: urlOf(this.name, account) };
    const attributes = `LOGIN PASSWORD ${escapeLiteral(role.password)} ${options.attributes ?? ''}`;
    await this.admin.query(`CREATE ROLE ${escapeIdentifier(role.name)} ${attributes}`);
    this.roles.push(role);
    if (options.owner) await this.admin.query(handOver(role.name));
    return role;
  }

  /** dataSource answers an initialised TypeORM DataSource; it is destroyed with the database. */
  dataSource(options?: TestDataSourceOptions): Promise<DataSource> {
    return this.owned.dataSource(options);
  }

  /**
   * drop ends what was taken from this object and removes the database.
   *
   * It throws LeakedConnectionsError, after removing it, when clients were never given back to their pool or when other connections remain.
   */
  async drop(): Promise<void> {
    const leaks = await this.owned.close();
    await Promise.allSettled(this.clients.map((client) => client.end()));
    if (leaks.length === 0) leaks.push(...(await this.remaining()));
    for (const role of this.roles) await this.admin.query(`DROP OWNED BY ${escapeIdentifier(role.name)}`);
    await this.admin.end();
    const server = new AdminConnection(testbed().url);
    try {
      await server.query(`DROP DATABASE ${escapeIdentifier(this.name)} WITH (FORCE)`);
      for (const role of this.roles) await server.query(`DROP ROLE ${escapeIdentifier(role.name)}`);
    } finally {
      await server.end();
    }
    if (leaks.length > 0) throw new LeakedConnectionsError(this.name, leaks);
  }

  /** pool answers a `pg` pool on this database; it is ended with the database. */
  pool(options?: TestPoolOptions): Pool {
    return this.owned.pool(options);
  }

  /**
   * terminateBackends ends the connections to this database that match a condition on pg_stat_activity (`state = 'idle in transaction'`),
   * waits until they are gone, and answers how many there were. The testbed's own connection is spared.
   */
  async terminateBackends(where = 'true', values: readonly unknown[] = []): Promise<number> {
    const own = `datname = ${escapeLiteral(this.name)} AND application_name <> ${escapeLiteral(ADMIN_NAME)}`;
    // Materialized: in one WHERE clause the server is free to terminate before it looks at the condition.
    const rows = await this.admin.query<{ pid: number }>(
      `WITH matching AS MATERIALIZED (SELECT pid FROM pg_stat_activity WHERE ${own} AND (${where}))
       SELECT pid FROM matching WHERE pg_terminate_backend(pid)`,
      values,
    );
    const pids = rows.map(({ pid }) => pid);
    const gone = () =>
      this.admin
        .query('SELECT 1 FROM pg_stat_activity WHERE pid = ANY($1::int[])', [pids])
        .then((left) => left.length === 0);
    await waitFor(gone, { what: 'the terminated backends to be gone' });
    return pids.length;
  }

  private async remaining(): Promise<string[]> {
    const none = async () => (await this.backends()).length === 0;
    await waitFor(none, { deadlineMs: SETTLE_MS, what: 'the connections to close' }).catch(() => undefined);
    return (await this.backends()).map((b) => `backend ${b.pid} "${b.application_name}" ${b.state}: ${b.query}`);
  }
}
