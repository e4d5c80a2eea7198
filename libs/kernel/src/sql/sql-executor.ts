/** SqlResult is what one statement answered: its rows and the number of rows it returned or changed. */
export interface SqlResult<Row = unknown> {
  readonly rows: Row[];
  readonly rowCount: number;
}

/**
 * SqlExecutor runs one statement on one connection: all that Holdfast needs of a database library.
 *
 * Whoever hands one over decides which transaction the statement joins: the one that is open on its connection.
 * A `pg` client is taken wherever a handle is (`{ in: client }`): `executorOf` wraps it, because its own `query` takes a third argument for a callback.
 * The transactions of Holdfast carry one, those of `typeOrm(...)` included.
 */
export interface SqlExecutor {
  /**
   * query sends `text` with positional `values` (`$1` …) and rejects with the driver's own error.
   * `name`, where given, lets the connection keep the statement prepared under it; an executor may ignore it, and one of the application's own is
   * given none.
   */
  query<Row = unknown>(text: string, values?: readonly unknown[], name?: string): Promise<SqlResult<Row>>;
}
