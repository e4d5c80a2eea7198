import { channelOf, Doors, type SchemaName } from '@holdfast/kernel';

const TABLES = ['job', 'job_request'];
/** Kinds of a transaction that are remembered; of further ones each row is asked about. */
const REMEMBERED_CHARACTERS = 1_000;
/** A queue of the server that fills because some listener does not read it must not become the end of every commit (K96). */
const FULLEST_QUEUE = 0.5;

/**
 * wakeConsumers makes the triggers on job and job_request and their function `wake_consumers` (Q10).
 *
 * They are deferred, so that they run in COMMIT: whoever enqueues early in a long transaction holds the door no longer than its commit takes. Once
 * for each kind of a transaction, which a setting of the transaction remembers: a rollback to a savepoint takes back both, the setting and the
 * event. The door is tried, in shared mode, and held until the commit can be seen; where that fails a consumer of the kind is idle and is notified,
 * by the commit itself. A notification carries nothing (K94). No table is read: a SERIALIZABLE caller can fail by none of it.
 *
 * The search path is pinned: a deferred trigger may run with the rights of the owner (of `enqueue`, since PostgreSQL 18) and the path of the caller,
 * whose operators it must not meet.
 */
export function wakeConsumers(schema: SchemaName): string[] {
  const doors = new Doors(schema);
  const woken = `coalesce(pg_catalog.current_setting('holdfast.woken', true), '')`;
  const name = `(' ${doors.first}:' || NEW.kind || ' ')`;
  return [
    `CREATE FUNCTION ${schema.of('wake_consumers')}() RETURNS trigger
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $function$
BEGIN
  IF NOT pg_catalog.pg_try_advisory_xact_lock_shared(${doors.ofKind('NEW.kind')})
      AND pg_catalog.pg_notification_queue_usage() < ${FULLEST_QUEUE} THEN
    PERFORM pg_catalog.pg_notify('${channelOf(schema).replaceAll("'", "''")}', '');
  END IF;
  RETURN NULL;
END
$function$`,
    `COMMENT ON FUNCTION ${schema.of('wake_consumers')}() IS 'Holdfast: notifies idle consumers of a kind, at commit; nobody while none is idle.'`,
    ...TABLES.map(
      (table) => `CREATE CONSTRAINT TRIGGER ${table}_wakes AFTER INSERT ON ${schema.of(table)}
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (CASE
    WHEN NEW.due_at > pg_catalog.clock_timestamp() THEN false
    WHEN pg_catalog.strpos(${woken}, ${name}) > 0 THEN false
    WHEN pg_catalog.length(${woken}) > ${REMEMBERED_CHARACTERS} THEN true
    ELSE pg_catalog.set_config('holdfast.woken', ${woken} || ${name}, true) <> ''
  END)
  EXECUTE FUNCTION ${schema.of('wake_consumers')}()`,
    ),
  ];
}

export function dropWakeConsumers(schema: SchemaName): string[] {
  return [
    ...TABLES.map((table) => `DROP TRIGGER ${table}_wakes ON ${schema.of(table)}`),
    `DROP FUNCTION ${schema.of('wake_consumers')}()`,
  ];
}
