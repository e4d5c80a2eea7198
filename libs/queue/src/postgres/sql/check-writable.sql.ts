import { Statement } from '@holdfast/kernel';

/**
 * Fails with 25006 on a server that only reads, as after a failover, so that the connection is not used again (K33).
 *
 * Locks: none. Reads no table and writes nothing.
 */
export const checkWritable = new Statement<Record<string, never>, never>({
  name: 'check-writable',
  text: () => `DO $$ BEGIN
  IF pg_catalog.current_setting('transaction_read_only') = 'on' THEN RAISE read_only_sql_transaction; END IF;
END $$`,
  values: () => [],
});
