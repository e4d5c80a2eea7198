import { createHash } from 'node:crypto';
import type { SchemaName } from './schema-name.js';
import type { SqlExecutor, SqlResult } from './sql-executor.js';

const MARK_LENGTH = 8;
/** PostgreSQL cuts identifiers at 63 bytes. */
const MAX_NAME_LENGTH = 63 - MARK_LENGTH - 1;

/** StatementSource declares a statement once: its name, its text for a schema, and the order of its parameters. */
export interface StatementSource<Params> {
  /** name is the verb and noun of the file, such as `claim-jobs`; the name of the prepared statement begins with it. */
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
  private readonly written = new Map<string, { readonly name: string; readonly text: string }>();

  constructor(private readonly source: StatementSource<Params>) {}

  bind(schema: SchemaName, params: Params): BoundStatement<Row> {
    return { ...this.write(schema), values: this.source.values(params) };
  }

  /** run sends the statement through an executor, in whatever transaction is open there. */
  run(executor: SqlExecutor, schema: SchemaName, params: Params): Promise<SqlResult<Row>> {
    const bound = this.bind(schema, params);
    return executor.query<Row>(bound.text, bound.values, bound.name);
  }

  textFor(schema: SchemaName): string {
    return this.write(schema).text;
  }

  /** A connection keeps one text under one name, so the name tells schemas and versions of the text apart. */
  private write(schema: SchemaName): { readonly name: string; readonly text: string } {
    let written = this.written.get(schema.name);
    if (!written) {
      const text = this.source.text(schema);
      const mark = createHash('sha256').update(text).digest('hex').slice(0, MARK_LENGTH);
      written = { name: `holdfast-${this.source.name}`.slice(0, MAX_NAME_LENGTH) + `-${mark}`, text };
      this.written.set(schema.name, written);
    }
    return written;
  }
}
