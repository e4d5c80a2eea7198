import { PgExecutor } from '../sql/pg.executor.js';
import type { SqlResult } from '../sql/sql-executor.js';

/**
 * GatedExecutor is the `sql` of a transaction.
 *
 * A rejection that nobody looks at does not end the process, with whatever else runs there: a failed statement fails its transaction, and one that
 * comes after the end has changed nothing.
 */
export class GatedExecutor extends PgExecutor {
  override query<Row>(text: string, values?: readonly unknown[], name?: string): Promise<SqlResult<Row>> {
    const answer = super.query<Row>(text, values, name);
    answer.catch(() => undefined);
    return answer;
  }
}
