import type { MigrationInterface, QueryRunner } from 'typeorm';
import { HUB_TABLES } from '../hub.tables.js';

/** The histories of before there were tenants, and the tables that they made, whose rows belong to none. */
const FORMER_HISTORIES = ['api_migration', 'worker_migration'];
const FORMER_TABLES = ['event', 'delivery', 'repository_statistics'];

/** CreateHub1764600000000 makes the tables of the hub, each with row level security that holds for their owner too (T1). */
export class CreateHub1764600000000 implements MigrationInterface {
  readonly name = 'CreateHub1764600000000';

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP FUNCTION tenant_of_api_key(text)');
    await queryRunner.query(`DROP TABLE ${[...HUB_TABLES].reverse().join(', ')}`);
  }

  async up(queryRunner: QueryRunner): Promise<void> {
    await setFormerTablesAside(queryRunner);
    for (const statement of [...TABLES, ...INDEXES]) await queryRunner.query(statement);
    for (const table of HUB_TABLES) await protect(queryRunner, table, table === 'tenant' ? 'id' : 'tenant_id');
    await queryRunner.query(KEY_LOOKUP_POLICY);
    await queryRunner.query(KEY_LOOKUP);
  }
}

const TABLES = [
  `CREATE TABLE tenant (
    id text COLLATE "C" PRIMARY KEY CHECK (id <> ''),
    name text NOT NULL,
    retention_days integer NOT NULL CHECK (retention_days > 0),
    created_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE TABLE api_key (
    hash text COLLATE "C" PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{64}$'),
    tenant_id text COLLATE "C" NOT NULL REFERENCES tenant ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz
  )`,
  `CREATE TABLE subscription (
    id text COLLATE "C" PRIMARY KEY,
    tenant_id text COLLATE "C" NOT NULL REFERENCES tenant ON DELETE CASCADE,
    url text NOT NULL,
    event_types text[] NOT NULL CHECK (cardinality(event_types) > 0),
    secret text NOT NULL,
    previous_secret text,
    previous_secret_until timestamptz,
    paused_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    CHECK ((previous_secret IS NULL) = (previous_secret_until IS NULL))
  )`,
  // No reference to the tenant: each event would lock its row, and a busy tenant's events would queue up behind one another's locks.
  `CREATE TABLE event (
    tenant_id text COLLATE "C" NOT NULL CHECK (tenant_id <> ''),
    id text COLLATE "C" NOT NULL,
    type text NOT NULL,
    repository text,
    payload json NOT NULL,
    jobs json NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
  )`,
  // No reference to the subscription either: what was delivered stays told when it is deleted.
  `CREATE TABLE delivery (
    tenant_id text COLLATE "C" NOT NULL,
    event_id text COLLATE "C" NOT NULL,
    subscription_id text COLLATE "C" NOT NULL,
    job_id bigint NOT NULL,
    attempt integer,
    status integer,
    delivered_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, event_id, subscription_id),
    FOREIGN KEY (tenant_id, event_id) REFERENCES event ON DELETE CASCADE
  ) WITH (fillfactor = 90)`,
  // One row per repository and type: a job changes exactly one row, so that two of them can wait for each other but never in a circle.
  `CREATE TABLE repository_statistics (
    tenant_id text COLLATE "C" NOT NULL CHECK (tenant_id <> ''),
    repository text COLLATE "C" NOT NULL,
    event_type text COLLATE "C" NOT NULL,
    events bigint NOT NULL,
    last_event_id text NOT NULL,
    last_event_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, repository, event_type)
  ) WITH (fillfactor = 70)`,
];

const INDEXES = [
  'CREATE INDEX api_key_of_tenant ON api_key (tenant_id)',
  'CREATE INDEX subscription_of_tenant ON subscription (tenant_id, id)',
  'CREATE INDEX event_by_age ON event (tenant_id, received_at)',
];

/** A key is looked up before anybody knows whose it is: whoever has its hash sees its row, and can change nothing there. */
const KEY_LOOKUP_POLICY = `
  CREATE POLICY key_lookup ON api_key FOR SELECT USING (hash = current_setting('app.api_key_hash', true))`;

/** One statement, and so one round trip: the setting ends with it. It runs with the caller's rights, and tells what its policies let it see. */
const KEY_LOOKUP = `
  CREATE FUNCTION tenant_of_api_key(key_hash text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
  BEGIN
    PERFORM set_config('app.api_key_hash', key_hash, true);
    RETURN (SELECT tenant_id FROM api_key WHERE hash = key_hash AND revoked_at IS NULL);
  END $$`;

async function protect(queryRunner: QueryRunner, table: string, column: string): Promise<void> {
  const mine = `${column} = current_setting('app.tenant_id', true)`;
  await queryRunner.query(`ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`);
  await queryRunner.query(`ALTER TABLE ${table} FORCE ROW LEVEL SECURITY`);
  await queryRunner.query(`CREATE POLICY tenant_scope ON ${table} USING (${mine}) WITH CHECK (${mine})`);
}

/** They keep their rows under another name; a table of somebody else's that only has the same name is left alone, and is in the way. */
async function setFormerTablesAside(queryRunner: QueryRunner): Promise<void> {
  if ((await existing(queryRunner, FORMER_HISTORIES)).length === 0) return;
  for (const table of await existing(queryRunner, FORMER_TABLES))
    await queryRunner.query(`ALTER TABLE ${table} RENAME TO ${table}_without_tenants`);
  await queryRunner.query(`DROP TABLE IF EXISTS ${FORMER_HISTORIES.join(', ')}`);
}

async function existing(queryRunner: QueryRunner, tables: readonly string[]): Promise<string[]> {
  const text = 'SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NOT NULL';
  const rows = (await queryRunner.query(text, [tables])) as { name: string }[];
  return rows.map(({ name }) => name);
}
