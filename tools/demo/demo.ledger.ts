import { Client } from 'pg';

const RUNNING = 1;
const SUCCEEDED = 2;

/** DemoLedger reads what the demo is judged by, from the database. */
export class DemoLedger {
  private readonly client: Client;

  constructor(url: string) {
    this.client = new Client({ connectionString: url });
    this.client.on('error', () => undefined);
  }

  async close(): Promise<void> {
    await this.client.end();
  }

  /** deliveries is how many deliveries were recorded together with their job's completion. */
  deliveries(): Promise<number> {
    return this.count('SELECT count(*) AS jobs FROM delivery');
  }

  events(): Promise<number> {
    return this.count('SELECT count(*) AS jobs FROM event');
  }

  /** left is how many jobs did not succeed (yet), requests that have not become jobs included. */
  left(): Promise<number> {
    return this.count(
      `SELECT (SELECT count(*) FROM holdfast.job WHERE state <> ${SUCCEEDED}) + (SELECT count(*) FROM holdfast.job_request) AS jobs`,
    );
  }

  async open(): Promise<void> {
    await this.client.connect();
    const found = await this.client.query<{ taken: boolean }>("SELECT to_regclass('event') IS NOT NULL AS taken");
    if (found.rows[0]?.taken)
      throw new Error('The demo needs an empty database, and this one has events: name another in DATABASE_URL.');
  }

  /** running names every delivery that a worker had begun and not ended, by job and lease: what a dead worker held stays so until it runs out. */
  async running(): Promise<string[]> {
    const { rows } = await this.client.query<{ attempt: string }>(
      `SELECT id || ' ' || lease_token AS attempt FROM holdfast.job WHERE kind = 'webhook.deliver' AND state = ${RUNNING}`,
    );
    return rows.map((row) => row.attempt);
  }

  /** statistics answers the counts by `repository type`. */
  async statistics(): Promise<Map<string, number>> {
    const text = 'SELECT repository, event_type, events FROM repository_statistics';
    const { rows } = await this.client.query<{ event_type: string; events: string; repository: string }>(text);
    return new Map(rows.map((row) => [`${row.repository} ${row.event_type}`, Number(row.events)]));
  }

  private async count(text: string): Promise<number> {
    const { rows } = await this.client.query<{ jobs: string }>(text);
    return Number(rows[0]?.jobs ?? 0);
  }
}
