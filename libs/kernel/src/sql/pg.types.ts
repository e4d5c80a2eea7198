/** PgStatus is what the server said of the session's transaction with its last answer: none, open, failed. */
export type PgStatus = 'I' | 'T' | 'E';

/** PgResult is what a `pg` client answers for one statement. */
export interface PgResult<Row = unknown> {
  readonly command: string;
  readonly rowCount: number | null;
  readonly rows: Row[];
}

/** PgQuery is a statement in the form of an object, as a `pg` client takes it. */
export interface PgQuery {
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
}

/** PgClientLike is the part of a `pg` client (Client, PoolClient) that statements are sent through. */
export interface PgClientLike {
  getTransactionStatus?(): PgStatus | null;
  query(query: PgQuery): Promise<unknown>;
}

/** resultsOf answers the results of a simple query one by one: `pg` gives a list only where there were several statements. */
export function resultsOf(answer: unknown): PgResult[] {
  return (Array.isArray(answer) ? answer : [answer]) as PgResult[];
}

/** statusOf answers what the server last said of the client's transaction, or undefined where this version of `pg` does not tell. */
export function statusOf(client: PgClientLike): PgStatus | undefined {
  return client.getTransactionStatus?.() ?? undefined;
}
