/**
 * MigrationConnection is one connection that migrations run on. Every SqlExecutor and every `pg` client is one; a pool is not, because
 * the statements of a migration share a transaction.
 */
export interface MigrationConnection {
  query(text: string): Promise<{ rows: unknown[] }>;
}

/** rowsOf sends one statement and answers its rows. */
export async function rowsOf<Row>(connection: MigrationConnection, text: string): Promise<Row[]> {
  return (await connection.query(text)).rows as Row[];
}
