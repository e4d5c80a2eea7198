import type { Migration, SchemaName } from '@holdfast/kernel';
import { dropSoundRow, soundCheck, soundRow } from './functions/sound-row.functions.js';

/** The tables of the queue. */
export const jobs: Migration = {
  id: '0001-jobs',
  part: 'queue',
  written: '2026-11-30T00:00:00Z',
  down: (schema) => [
    `DROP TABLE ${schema.of('job_hold')}`,
    `DROP TABLE ${schema.of('job_renewal')}`,
    `DROP TABLE ${schema.of('job_alias')}`,
    `DROP TABLE ${schema.of('job_request')}`,
    `DROP TABLE ${schema.of('job')}`,
    ...dropSoundRow(schema),
    `DROP SEQUENCE ${schema.of('job_id')}`,
  ],
  up: (schema) => [
    ...identity(schema),
    ...soundRow(schema),
    ...job(schema),
    ...jobIndexes(schema),
    ...jobRequest(schema),
    ...jobAlias(schema),
    ...narrowRows(schema),
  ],
};

/** Vacuum comes after a fixed number of dead rows, however large the table has grown: a claim walks past dead index entries until then. */
const HOT = `autovacuum_vacuum_scale_factor = 0.0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0.0,
  autovacuum_vacuum_insert_threshold = 20000,
  autovacuum_analyze_scale_factor = 0.0,
  autovacuum_analyze_threshold = 10000,
  autovacuum_vacuum_cost_delay = 0`;

function identity(schema: SchemaName): string[] {
  return [
    `CREATE SEQUENCE ${schema.of('job_id')} AS bigint`,
    `COMMENT ON SEQUENCE ${schema.of('job_id')} IS 'Ids of jobs and of requests: one sequence, so that a request can become the job of its id.'`,
  ];
}

function job(schema: SchemaName): string[] {
  const table = schema.of('job');
  return [
    `CREATE TABLE ${table} (
  id bigint NOT NULL DEFAULT nextval('${quoteText(schema.of('job_id'))}'::regclass),
  kind text COLLATE "C" NOT NULL,
  tenant_id text COLLATE "C",
  dedupe_key text COLLATE "C",
  state smallint NOT NULL DEFAULT 0,
  priority smallint NOT NULL DEFAULT 5,
  due_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  attempt integer NOT NULL DEFAULT 0,
  max_attempts integer,
  suspect boolean NOT NULL DEFAULT false,
  losses smallint NOT NULL DEFAULT 0,
  deferred_since timestamptz,
  payload json NOT NULL,
  payload_version smallint NOT NULL DEFAULT 1,
  lease_token uuid,
  lease_owner text COLLATE "C",
  lease_until timestamptz,
  claimed_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at timestamptz,
  outcome text COLLATE "C",
  error_code text COLLATE "C",
  refusal json,
  failures json,
  CONSTRAINT job_pk PRIMARY KEY (id),
  ${soundCheck(schema, 'job')}
) WITH (fillfactor = 80, ${HOT})`,
    `COMMENT ON TABLE ${table} IS 'Holdfast: one row per job. Written by intake, claim, settlement, reaping and operators only.'`,
    ...columnComments(table, JOB_COLUMNS),
  ];
}

const JOB_COLUMNS: Readonly<Record<string, string>> = {
  kind: 'What the job does, such as webhook.deliver; declared by a definition.',
  tenant_id: 'The tenant whose scope its transactions run under; null for a job of the system.',
  dedupe_key: 'Unique among the live jobs of kind and tenant; free again once the job is final.',
  state: '0 PENDING, 1 RUNNING, 2 SUCCEEDED, 3 FAILED (refused), 4 DEAD_LETTER, 5 CANCELLED.',
  priority: '0 runs first, 9 last.',
  due_at: 'Not before this moment, by the database clock.',
  attempt: 'Attempts spent, the running one included.',
  max_attempts: 'Attempts it may spend; null for no bound.',
  suspect: 'Its last attempt ended by lease expiry: it is run with nothing else running in that process.',
  losses: 'How many times in a row the connection was lost while it ran.',
  deferred_since: 'The first deferral of the outage that it waits out.',
  payload: 'The input of the handler, as it was encoded at enqueue.',
  lease_token: 'Fences every write that ends or reports on the running attempt; new at each claim.',
  lease_owner: 'The process that runs it, for people.',
  lease_until: 'When others may take the job back, unless job_renewal names a later moment for the same token.',
  claimed_at: 'When its last attempt was claimed.',
  outcome: 'The code that its last successful run left.',
  error_code: 'The code of its last failure, or of its refusal.',
  refusal: 'The parameters of a refusal.',
  failures: 'The last failed attempts: codes and classes.',
};

function jobIndexes(schema: SchemaName): string[] {
  const table = schema.of('job');
  return [
    `CREATE INDEX job_claim ON ${table} (kind, priority, due_at, id) WHERE state = 0 AND NOT suspect`,
    `CREATE INDEX job_suspects ON ${table} (kind, due_at, id) WHERE state = 0 AND suspect`,
    `CREATE INDEX job_leases ON ${table} (kind, lease_until) WHERE state = 1`,
    `CREATE UNIQUE INDEX job_live_keys ON ${table} (kind, coalesce(tenant_id, ''), dedupe_key)
  WHERE state IN (0, 1) AND dedupe_key IS NOT NULL`,
    `CREATE INDEX job_finished ON ${table} (state, finished_at, id) WHERE state >= 2`,
  ];
}

function jobRequest(schema: SchemaName): string[] {
  const table = schema.of('job_request');
  return [
    `CREATE TABLE ${table} (
  id bigint NOT NULL DEFAULT nextval('${quoteText(schema.of('job_id'))}'::regclass),
  kind text COLLATE "C" NOT NULL,
  tenant_id text COLLATE "C",
  dedupe_key text COLLATE "C" NOT NULL,
  priority smallint NOT NULL DEFAULT 5,
  due_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  max_attempts integer,
  payload json NOT NULL,
  payload_version smallint NOT NULL DEFAULT 1,
  rerun boolean NOT NULL DEFAULT false,
  replace_payload boolean NOT NULL DEFAULT false,
  seen_token uuid,
  named_job bigint,
  waits_for bigint,
  waits_token uuid,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT job_request_pk PRIMARY KEY (id),
  ${soundCheck(schema, 'job_request')}
) WITH (fillfactor = 90, ${HOT})`,
    `COMMENT ON TABLE ${table} IS 'Holdfast: requests with a key that intake has not yet turned into, or joined to, a job.'`,
    ...columnComments(table, {
      rerun: 'A run that was already running does not satisfy it.',
      replace_payload: 'A pending job of its key takes over its payload.',
      seen_token: 'The run that its transaction saw running, and that satisfies it if it is still that run.',
      named_job: 'The live job whose id was the answer; null when the answer was its own id.',
      waits_for: 'The running job whose end it waits for.',
      waits_token: 'The run of that job whose end it waits for.',
    }),
    `CREATE INDEX job_request_waiting ON ${table} (waits_for) WHERE waits_for IS NOT NULL`,
  ];
}

function jobAlias(schema: SchemaName): string[] {
  const table = schema.of('job_alias');
  return [
    `CREATE TABLE ${table} (
  request_id bigint NOT NULL,
  job_id bigint NOT NULL,
  CONSTRAINT job_alias_pk PRIMARY KEY (request_id)
) WITH (${HOT})`,
    `COMMENT ON TABLE ${table} IS 'Holdfast: the job in which a request ended up whose own id had been the answer.'`,
    `CREATE INDEX job_alias_job ON ${table} (job_id)`,
  ];
}

/** Rows that a run writes while it runs: narrow, without a foreign key, so that they neither touch nor lock the job's row. */
function narrowRows(schema: SchemaName): string[] {
  return [
    `CREATE TABLE ${schema.of('job_renewal')} (
  job_id bigint NOT NULL,
  token uuid NOT NULL,
  until timestamptz NOT NULL,
  CONSTRAINT job_renewal_pk PRIMARY KEY (job_id)
) WITH (fillfactor = 50, ${HOT})`,
    `COMMENT ON TABLE ${schema.of('job_renewal')} IS 'Holdfast: leases that were extended while their job runs.'`,
    `CREATE TABLE ${schema.of('job_hold')} (
  job_id bigint NOT NULL,
  token uuid NOT NULL,
  CONSTRAINT job_hold_pk PRIMARY KEY (job_id)
) WITH (${HOT})`,
    `COMMENT ON TABLE ${schema.of('job_hold')} IS 'Holdfast: runs that no longer satisfy an enqueue of their key.'`,
  ];
}

function columnComments(table: string, comments: Readonly<Record<string, string>>): string[] {
  return Object.entries(comments).map(
    ([column, text]) => `COMMENT ON COLUMN ${table}.${column} IS '${quoteText(text)}'`,
  );
}

function quoteText(text: string): string {
  return text.replaceAll("'", "''");
}
