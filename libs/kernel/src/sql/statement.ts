import type { SchemaName } from './schema-name.js';
import type { SqlExecutor, SqlResult } from './sql-executor.js';

/** StatementSource declares a statement once: its name, its text for a schema, and the order of its parameters. */
export interface StatementSource<Params> {
  /** name is the verb and noun of the file, such as `claim-jobs`; it is also the name of the prepared statement. */
  readonly name: string;
  /** text writes the statement for a schema; every parameter carries a cast (`$1::bigint`), so that it can also be sent inline. */
  readonly text: (schema: SchemaName) => string;
  readonly values: (params: Params) => readonly unknown[];
}

/** BoundStatement is a statement with its schema and parameters, ready to be sent. */
export interface BoundStatement<Row> {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  /** row is never set: it carries the type of the rows. */
  readonly row?: Row;
}

/** Statement is one SQL statement with typed parameters and rows; its text is written once per schema. */
export class Statement<Params, Row> {
  private readonly texts = new Map<string, string>();

  constructor(private readonly source: StatementSource<Params>) {}

  bind(schema: SchemaName, params: Params): BoundStatement<Row> {
    return { name: `holdfast-${this.source.name}`, text: this.textFor(schema), values: this.source.values(params) };
  }

  /** run sends the statement through an executor, in whatever transaction is open there. */
  run(executor: SqlExecutor, schema: SchemaName, params: Params): Promise<SqlResult<Row>> {
    const bound = this.bind(schema, params);
    return executor.query<Row>(bound.text, bound.values, bound.name);
  }

  textFor(schema: SchemaName): string {
    let text = this.texts.get(schema.name);
    if (text === undefined) {
      text = this.source.text(schema);
      this.texts.set(schema.name, text);
    }
    return text;
  }
}
