import { Client, type QueryResultRow } from 'pg';

/** ADMIN_NAME is the application_name of the testbed's own connections: the leak check leaves them out. */
export const ADMIN_NAME = 'holdfast-testbed';

/** AdminConnection is the testbed's own superuser connection, opened at the first query. */
export class AdminConnection {
  private client: Promise<Client> | undefined;
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly url: string) {}

  async end(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client) await (await client).end();
  }

  /** query answers the rows of a statement, after those before it. A connection that broke is opened anew at the next query. */
  query<Row extends QueryResultRow = QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const answer = this.last.then(() => this.send<Row>(text, values));
    this.last = answer.catch(() => undefined);
    return answer;
  }

  private async connect(): Promise<Client> {
    const client = new Client({ application_name: ADMIN_NAME, connectionString: this.url });
    const forget = () => (this.client = undefined);
    client.on('error', forget);
    client.on('end', forget);
    await client.connect().catch((error: unknown) => {
      forget();
      throw error;
    });
    return client;
  }

  private async send<Row extends QueryResultRow>(text: string, values: readonly unknown[]): Promise<Row[]> {
    this.client ??= this.connect();
    const client = await this.client;
    return (await client.query<Row>(text, [...values])).rows;
  }
}
