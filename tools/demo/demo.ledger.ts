import { Client, escapeLiteral, type QueryResult, type QueryResultRow } from 'pg';

const RUNNING = 1;
const SUCCEEDED = 2;
const FAILED = 3;
const TABLES = ['delivery', 'event', 'repository_statistics', 'subscription', 'tenant'];

/** TenantLedger is what the database says of one tenant. */
export interface TenantLedger {
  /** delivered is how many deliveries to each subscription were recorded together with their job's completion. */
  readonly delivered: ReadonlyMap<string, number>;
  readonly events: number;
  /** statistics are the counts by `repository type`. */
  readonly statistics: ReadonlyMap<string, number>;
}

/** DemoLedger reads what the demo is judged by, from the database, as the role of the apps: a tenant's rows under its scope. */
export class DemoLedger {
  private readonly client: Client;

  constructor(url: string) {
    this.client = new Client({ connectionString: url });
    this.client.on('error', () => undefined);
  }

  async close(): Promise<void> {
    await this.client.end();
  }

  /** left is how many jobs are not at their end (yet), requests that have not become jobs included; the pollers, which have none, are not. */
  left(): Promise<number> {
    return this.count(
      `SELECT (SELECT count(*) FROM holdfast.job WHERE state NOT IN (${SUCCEEDED}, ${FAILED}) AND kind <> 'retention.sweep')
            + (SELECT count(*) FROM holdfast.job_request WHERE kind <> 'retention.sweep') AS count`,
    );
  }

  /** open connects. Throws in a database that has events. */
  async open(): Promise<void> {
    await this.client.connect();
    const found = await this.client.query<{ taken: boolean }>("SELECT to_regclass('event') IS NOT NULL AS taken");
    if (found.rows[0]?.taken)
      throw new Error('The demo needs an empty database, and this one has events: name another in DATABASE_URL.');
  }

  /** pollers is how many live jobs sweep a tenant's old events. */
  pollers(tenantId: string): Promise<number> {
    return this.count(
      `SELECT count(*) FROM holdfast.job WHERE kind = 'retention.sweep' AND tenant_id = $1 AND state < ${SUCCEEDED}`,
      [tenantId],
    );
  }

  /** jobsOf is how many deliveries to a subscription there are, at their end or not. */
  jobsOf(subscriptionId: string): Promise<number> {
    return this.deliveryJobs(subscriptionId, 'true');
  }

  /** queued is how many deliveries to a subscription are not at their end. */
  queued(subscriptionId: string): Promise<number> {
    return this.deliveryJobs(subscriptionId, `state < ${SUCCEEDED}`);
  }

  /** refused is how many deliveries to a subscription were refused, because it is paused and for no other reason. */
  refused(subscriptionId: string): Promise<number> {
    return this.deliveryJobs(subscriptionId, `state = ${FAILED} AND error_code = 'webhook.subscription_paused'`);
  }

  /** refusedAtAll is how many jobs of a tenant were refused, whatever for. */
  refusedAtAll(tenantId: string): Promise<number> {
    return this.count(`SELECT count(*) FROM holdfast.job WHERE tenant_id = $1 AND state = ${FAILED}`, [tenantId]);
  }

  /** running names every delivery that a worker had begun and not ended, by job and lease: what a dead worker held stays so until it runs out. */
  async running(): Promise<string[]> {
    const { rows } = await this.client.query<{ attempt: string }>(
      `SELECT id || ' ' || lease_token AS attempt FROM holdfast.job WHERE kind = 'webhook.deliver' AND state = ${RUNNING}`,
    );
    return rows.map((row) => row.attempt);
  }

  /** tenant answers what there is under the scope of one. */
  async tenant(tenantId: string): Promise<TenantLedger> {
    const [events] = await this.scoped<{ count: string }>(tenantId, 'SELECT count(*) FROM event');
    const deliveries = await this.scoped<{ count: string; id: string }>(
      tenantId,
      'SELECT subscription_id AS id, count(*) FROM delivery WHERE delivered_at IS NOT NULL GROUP BY subscription_id',
    );
    const statistics = await this.scoped<{ events: string; name: string }>(
      tenantId,
      "SELECT repository || ' ' || event_type AS name, events FROM repository_statistics",
    );
    return {
      delivered: new Map(deliveries.map(({ count, id }) => [id, Number(count)])),
      events: Number(events?.count),
      statistics: new Map(statistics.map((row) => [row.name, Number(row.events)])),
    };
  }

  /** unscoped is how many rows of the hub are seen under no tenant's scope, in all of its tables. */
  unscoped(): Promise<number> {
    return this.count(`SELECT ${TABLES.map((table) => `(SELECT count(*) FROM ${table})`).join(' + ')} AS count`);
  }

  private async count(text: string, values: readonly string[] = []): Promise<number> {
    const { rows } = await this.client.query<{ count: string }>(text, [...values]);
    return Number(rows[0]?.count);
  }

  private deliveryJobs(subscriptionId: string, which: string): Promise<number> {
    const text = `SELECT count(*) FROM holdfast.job WHERE kind = 'webhook.deliver' AND payload->>'subscriptionId' = $1 AND ${which}`;
    return this.count(text, [subscriptionId]);
  }

  /** Two statements that are sent as one are one transaction: nobody else's come in between. */
  private async scoped<Row extends QueryResultRow>(tenantId: string, text: string): Promise<Row[]> {
    const scope = `SELECT set_config('app.tenant_id', ${escapeLiteral(tenantId)}, true)`;
    const results = (await this.client.query(`${scope}; ${text}`)) as unknown as QueryResult<Row>[];
    return results[1]?.rows ?? [];
  }
}
