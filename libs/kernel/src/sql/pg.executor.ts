import { resultsOf, type PgClientLike } from './pg.types.js';
import type { SqlExecutor, SqlResult } from './sql-executor.js';

/** PgExecutorOptions say how a PgExecutor sends statements. */
export interface PgExecutorOptions {
  /** preparedStatements keeps named statements prepared on the connection. Default true; false behind a pooler that cannot. */
  readonly preparedStatements?: boolean;
}

/** PgExecutor sends statements through a `pg` client, in whatever transaction is open there. */
export class PgExecutor implements SqlExecutor {
  private readonly prepared: boolean;

  constructor(
    private readonly client: PgClientLike,
    options: PgExecutorOptions = {},
  ) {
    this.prepared = options.preparedStatements ?? true;
  }

  async query<Row>(text: string, values: readonly unknown[] = [], name?: string): Promise<SqlResult<Row>> {
    const named = this.prepared && name !== undefined ? { name } : undefined;
    return sqlResultOf<Row>(await this.client.query({ ...named, text, values: values as unknown[] }));
  }
}

/** sqlResultOf answers the result of a `pg` client in the shape of this library; of several statements in one text, that of the last. */
export function sqlResultOf<Row>(answer: unknown): SqlResult<Row> {
  const result = resultsOf(answer).at(-1);
  return { rowCount: result?.rowCount ?? 0, rows: (result?.rows ?? []) as Row[] };
}
