import type { Migration, SchemaName } from '@holdfast/kernel';

/** The tables of the scheduler: when each duty last ran, and which runners are there. */
export const duties: Migration = {
  id: '0003-duties',
  part: 'queue',
  written: '2026-11-30T00:00:02Z',
  down: (schema) => [`DROP TABLE ${schema.of('runner_presence')}`, `DROP TABLE ${schema.of('leader_duty')}`],
  up: (schema) => [...leaderDuty(schema), ...runnerPresence(schema)],
};

/** Few rows that are written over and over: a free half of each page keeps the updates on it, and vacuum comes after a fixed number of dead ones. */
const NARROW = `fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0.0,
  autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0`;

function leaderDuty(schema: SchemaName): string[] {
  const table = schema.of('leader_duty');
  return [
    `CREATE TABLE ${table} (
  name text COLLATE "C" NOT NULL,
  run uuid NOT NULL,
  owner text COLLATE "C" NOT NULL,
  every interval NOT NULL,
  deadline interval NOT NULL,
  started_at timestamptz NOT NULL,
  ended_at timestamptz,
  failures integer NOT NULL DEFAULT 0,
  error_code text COLLATE "C",
  error_class text COLLATE "C",
  retry_at timestamptz,
  asked_at timestamptz,
  CONSTRAINT leader_duty_pk PRIMARY KEY (name),
  CONSTRAINT leader_duty_name CHECK (length(name) BETWEEN 1 AND 100),
  CONSTRAINT leader_duty_failed CHECK ((error_code IS NULL) = (failures = 0) AND failures >= 0)
) WITH (${NARROW})`,
    `COMMENT ON TABLE ${table} IS 'Holdfast: the last run of each duty. Written through the connection of the leader, but for asked_at.'`,
    ...columnComments(table, {
      run: 'Fences the write that ends the run; new at each start.',
      owner: 'The process that started it, for people.',
      every: 'How often it is due, as the code of that process said; measured from started_at by the database clock.',
      deadline: 'How long a run may take; one that has not ended by then is due again.',
      ended_at: 'Null while it runs, and where its process vanished.',
      failures: 'Runs that failed in a row.',
      error_code: 'The code of the last run, where it failed.',
      error_class: 'The class of its error: names and codes, never a message.',
      retry_at: 'When a failed run is due again, where that is sooner than every.',
      asked_at: 'Somebody asked for a run at once.',
    }),
  ];
}

function runnerPresence(schema: SchemaName): string[] {
  const table = schema.of('runner_presence');
  return [
    `CREATE TABLE ${table} (
  id uuid NOT NULL,
  owner text COLLATE "C" NOT NULL,
  kinds text[] COLLATE "C" NOT NULL,
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT runner_presence_pk PRIMARY KEY (id)
) WITH (${NARROW})`,
    `COMMENT ON TABLE ${table} IS 'Holdfast: the runners that are there and the kinds they run; a row that is not renewed counts no more.'`,
  ];
}

function columnComments(table: string, comments: Readonly<Record<string, string>>): string[] {
  return Object.entries(comments).map(([column, text]) => `COMMENT ON COLUMN ${table}.${column} IS '${text}'`);
}
