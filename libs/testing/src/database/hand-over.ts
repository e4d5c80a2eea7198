import { escapeLiteral } from 'pg';

/**
 * handOver answers the statement that makes a role the owner of the database it is run in, and of all that applications have made there: schemas, tables
 * with their sequences, views, routines and types. What belongs to the server or to an extension stays as it is. A superuser runs it.
 */
export function handOver(role: string): string {
  return `DO $hand_over$
DECLARE
  change text;
BEGIN
  FOR change IN
    WITH space AS (
      SELECT oid, nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
    ), kept AS (
      SELECT classid, objid FROM pg_depend WHERE deptype = 'e'
    )
    SELECT format('DATABASE %I', current_database())
    UNION ALL
    SELECT format('SCHEMA %I', s.nspname) FROM space s WHERE s.nspname <> 'public' AND NOT EXISTS
      (SELECT FROM kept WHERE classid = 'pg_namespace'::regclass AND objid = s.oid)
    UNION ALL
    SELECT format('TABLE %s', c.oid::regclass) FROM pg_class c JOIN space s ON s.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
      AND NOT EXISTS (SELECT FROM kept WHERE classid = 'pg_class'::regclass AND objid = c.oid)
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE c.relkind = 'S' AND d.objid = c.oid AND d.deptype IN ('a', 'i'))
    UNION ALL
    SELECT format('ROUTINE %s', p.oid::regprocedure) FROM pg_proc p JOIN space s ON s.oid = p.pronamespace
    WHERE NOT EXISTS (SELECT FROM kept WHERE classid = 'pg_proc'::regclass AND objid = p.oid)
    UNION ALL
    SELECT format('TYPE %s', t.oid::regtype) FROM pg_type t JOIN space s ON s.oid = t.typnamespace
    WHERE t.typtype IN ('e', 'd') AND NOT EXISTS (SELECT FROM kept WHERE classid = 'pg_type'::regclass AND objid = t.oid)
  LOOP
    EXECUTE format('ALTER %s OWNER TO %I', change, ${escapeLiteral(role)});
  END LOOP;
END $hand_over$`;
}
