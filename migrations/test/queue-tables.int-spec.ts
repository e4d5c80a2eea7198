import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import type { DatabaseError } from 'pg';

const TABLES = [
  'job',
  'job_alias',
  'job_cancel',
  'job_ending',
  'job_hold',
  'job_progress',
  'job_renewal',
  'job_request',
  'job_retention',
  'leader_duty',
  'paused_kind',
  'runner_presence',
];
const TOKEN = '00000000-0000-4000-8000-000000000001';
const LEASE = { claimed_at: 'now', lease_owner: 'worker', lease_token: TOKEN, lease_until: 'now' };
const RUNNING = { ...LEASE, attempt: 1, state: 1 };

type Row = Readonly<Record<string, unknown>>;

describe('the tables of the queue', () => {
  let database: TestDatabase;

  const insert = async (table: string, row: Row): Promise<string> => {
    const columns = Object.keys(row);
    const values = columns.map((_, i) => `$${i + 1}`);
    const text = `INSERT INTO holdfast.${table} (${columns.join(', ')}) VALUES (${values.join(', ')}) RETURNING id`;
    const [inserted] = await database.adminQuery<{ id: string }>(text, Object.values(row));
    return inserted!.id;
  };
  const job = (row: Row = {}) => insert('job', { kind: 'demo.job', payload: '{}', ...row });
  const request = (row: Row = {}) =>
    insert('job_request', { dedupe_key: 'k', kind: 'demo.job', payload: '{}', ...row });
  const broken = (inserting: Promise<string>) =>
    inserting.then(
      () => 'accepted',
      (error: DatabaseError) => error.constraint ?? error.message,
    );

  beforeAll(async () => {
    database = await createTestDatabase();
  });

  beforeEach(() => database.adminQuery(`TRUNCATE ${TABLES.map((table) => `holdfast.${table}`).join(', ')}`));

  afterAll(() => database.drop());

  it('Q3: what an enqueue leaves out is due now, PENDING, priority 5, with no attempt spent', async () => {
    await job();
    const rows = await database.adminQuery(
      `SELECT state, priority, attempt, max_attempts, suspect, losses, payload_version,
              due_at BETWEEN now() - interval '10s' AND clock_timestamp() AS due_now FROM holdfast.job`,
    );
    const fresh = {
      attempt: 0,
      due_now: true,
      losses: 0,
      max_attempts: null,
      payload_version: 1,
      priority: 5,
      state: 0,
    };
    expect(rows).toEqual([{ ...fresh, suspect: false }]);
  });

  describe('rows that are what they should be', () => {
    const rows: [string, Row][] = [
      ['waiting for its last attempt', { attempt: 7, max_attempts: 8 }],
      ['running', { ...RUNNING, max_attempts: 1 }],
      ['finished, with the moment of its claim', { attempt: 1, claimed_at: 'now', finished_at: 'now', state: 2 }],
      ['out of attempts', { attempt: 8, finished_at: 'now', max_attempts: 8, state: 4 }],
      ['cancelled before it ever ran', { finished_at: 'now', state: 5 }],
      ['with the longest key and tenant', { dedupe_key: 'ä'.repeat(256), tenant_id: 't'.repeat(200) }],
    ];
    it.each(rows)('accepted: a job %s', async (_, row) => {
      expect(await broken(job(row))).toBe('accepted');
    });
  });

  describe('malformed rows', () => {
    const jobs: [string, Row][] = [
      ['job_state_range', { finished_at: 'now', state: 6 }],
      ['job_state_range', { state: -1 }],
      ['job_kind_length', { kind: '' }],
      ['job_kind_length', { kind: 'k'.repeat(101) }],
      ['job_tenant_id_length', { tenant_id: '' }],
      ['job_tenant_id_length', { tenant_id: 'ä'.repeat(101) }],
      ['job_dedupe_key_length', { dedupe_key: '' }],
      ['job_dedupe_key_length', { dedupe_key: 'ä'.repeat(257) }],
      ['job_priority_range', { priority: 10 }],
      ['job_priority_range', { priority: -1 }],
      ['job_due_at_finite', { due_at: 'infinity' }],
      ['job_max_attempts_range', { finished_at: 'now', max_attempts: 0, state: 5 }],
      ['job_max_attempts_range', { max_attempts: 101 }],
      ['job_payload_version_range', { payload_version: 0 }],
      ['job_attempt_range', { attempt: -1 }],
      ['job_attempt_range', { attempt: 9, finished_at: 'now', max_attempts: 8, state: 4 }],
      ['job_attempt_of_state', { attempt: 8, max_attempts: 8 }],
      ['job_attempt_of_state', { ...RUNNING, attempt: 0 }],
      ['job_lease_while_running', { ...RUNNING, lease_token: null }],
      ['job_lease_while_running', { ...RUNNING, lease_owner: null }],
      ['job_lease_while_running', { ...RUNNING, lease_until: null }],
      ['job_lease_while_running', { ...RUNNING, claimed_at: null }],
      ['job_lease_while_running', { lease_token: TOKEN }],
      ['job_lease_while_running', { finished_at: 'now', lease_until: 'now', state: 2 }],
      ['job_finished_when_final', { state: 2 }],
      ['job_finished_when_final', { finished_at: 'now' }],
      ['job_losses_range', { losses: -1 }],
      ['job_lease_owner_length', { ...RUNNING, lease_owner: '' }],
      ['job_outcome_length', { outcome: 'o'.repeat(101) }],
      ['job_error_code_length', { error_code: 'e'.repeat(101) }],
    ];
    it.each(jobs)('%s refuses the job %j', async (constraint, row) => {
      expect(await broken(job(row))).toBe(constraint);
    });

    const requests: [string, Row][] = [
      ['job_request_kind_length', { kind: '' }],
      ['job_request_tenant_id_length', { tenant_id: '' }],
      ['job_request_dedupe_key_length', { dedupe_key: '' }],
      ['job_request_priority_range', { priority: 10 }],
      ['job_request_due_at_finite', { due_at: '-infinity' }],
      ['job_request_max_attempts_range', { max_attempts: 0 }],
      ['job_request_payload_version_range', { payload_version: 0 }],
      ['job_request_waits', { waits_for: 1 }],
      ['job_request_waits', { waits_token: TOKEN }],
    ];
    it.each(requests)('%s refuses the request %j', async (constraint, row) => {
      expect(await broken(request(row))).toBe(constraint);
    });
  });

  it('Q4: a key is unique among live jobs of its kind and tenant, and no tenant is a tenant of its own', async () => {
    await job({ dedupe_key: 'k' });
    expect(await broken(job({ dedupe_key: 'k' }))).toBe('job_live_keys');
    expect(await broken(job({ ...RUNNING, dedupe_key: 'k' }))).toBe('job_live_keys');
    const free: Row[] = [
      { dedupe_key: 'k', tenant_id: 't' },
      { dedupe_key: 'k', kind: 'demo.other' },
      { dedupe_key: 'K' },
      { dedupe_key: 'k ' },
      { dedupe_key: 'k', finished_at: 'now', state: 2 },
      {},
      {},
    ];
    for (const row of free) expect(await broken(job(row))).toBe('accepted');
  });

  it('Q11, Q14: the indexes are those of the design', async () => {
    const rows = await database.adminQuery<{ indexdef: string }>(
      `SELECT replace(indexdef, 'holdfast.', '') AS indexdef FROM pg_indexes
       WHERE schemaname = 'holdfast' AND tablename <> 'migration' ORDER BY indexname`,
    );
    expect(rows.map(({ indexdef }) => indexdef)).toEqual([
      'CREATE INDEX job_alias_job ON job_alias USING btree (job_id)',
      'CREATE UNIQUE INDEX job_alias_pk ON job_alias USING btree (request_id)',
      'CREATE UNIQUE INDEX job_cancel_pk ON job_cancel USING btree (job_id)',
      'CREATE INDEX job_claim ON job USING btree (kind, priority, due_at, id) WHERE ((state = 0) AND (NOT suspect))',
      'CREATE INDEX job_deferred ON job USING btree (kind, deferred_since) WHERE ((state = 0) AND (deferred_since IS NOT NULL))',
      'CREATE INDEX job_ended ON job USING btree (kind, state, finished_at, id) WHERE (state >= 2)',
      'CREATE UNIQUE INDEX job_ending_pk ON job_ending USING btree (kind, state, follow_up)',
      'CREATE UNIQUE INDEX job_hold_pk ON job_hold USING btree (job_id)',
      'CREATE INDEX job_leases ON job USING btree (kind, lease_until) WHERE (state = 1)',
      `CREATE UNIQUE INDEX job_live_keys ON job USING btree (kind, COALESCE(tenant_id, ''::text), dedupe_key) WHERE ((state = ANY (ARRAY[0, 1])) AND (dedupe_key IS NOT NULL))`,
      'CREATE UNIQUE INDEX job_pk ON job USING btree (id)',
      'CREATE UNIQUE INDEX job_progress_pk ON job_progress USING btree (job_id)',
      'CREATE UNIQUE INDEX job_renewal_pk ON job_renewal USING btree (job_id)',
      'CREATE UNIQUE INDEX job_request_pk ON job_request USING btree (id)',
      'CREATE INDEX job_request_waiting ON job_request USING btree (waits_for) WHERE (waits_for IS NOT NULL)',
      'CREATE UNIQUE INDEX job_retention_pk ON job_retention USING btree (kind, state)',
      'CREATE INDEX job_suspects ON job USING btree (kind, due_at, id) WHERE ((state = 0) AND suspect)',
      'CREATE UNIQUE INDEX leader_duty_pk ON leader_duty USING btree (name)',
      'CREATE UNIQUE INDEX paused_kind_pk ON paused_kind USING btree (kind)',
      'CREATE UNIQUE INDEX runner_presence_pk ON runner_presence USING btree (id)',
    ]);
  });

  it('Q14: every table is vacuumed after a fixed number of dead rows, is described, and compares text byte by byte', async () => {
    const rows = await database.adminQuery<{ described: boolean; options: string[]; relname: string }>(
      `SELECT relname, reloptions AS options, obj_description(oid, 'pg_class') LIKE 'Holdfast: %' AS described
       FROM pg_class WHERE relnamespace = 'holdfast'::regnamespace AND relkind = 'r' AND relname <> 'migration' ORDER BY 1`,
    );
    expect(rows.map(({ relname }) => relname)).toEqual(TABLES);
    for (const { described, options } of rows) {
      expect(described).toBe(true);
      expect(options).toEqual(
        expect.arrayContaining(['autovacuum_vacuum_scale_factor=0.0', 'autovacuum_vacuum_cost_delay=0']),
      );
    }
    const collations = await database.adminQuery(
      `SELECT DISTINCT collation_name FROM information_schema.columns WHERE table_schema = 'holdfast' AND data_type = 'text'
         AND table_name = ANY ($1)`,
      [TABLES],
    );
    expect(collations).toEqual([{ collation_name: 'C' }]);
  });

  describe('K66: sequences', () => {
    const sequences = () =>
      database.adminQuery<{ data_type: string; sequencename: string }>(
        `SELECT sequencename, data_type::text FROM pg_sequences WHERE schemaname = 'holdfast'`,
      );
    const setAll = async (value: string) => {
      for (const { sequencename } of await sequences()) {
        await database.adminQuery('SELECT setval($1::regclass, $2)', [`holdfast.${sequencename}`, value]);
      }
    };

    it('K66: every sequence and every id column is a bigint', async () => {
      expect(await sequences()).toEqual([{ data_type: 'bigint', sequencename: 'job_id' }]);
      const types = await database.adminQuery(
        `SELECT DISTINCT data_type FROM information_schema.columns WHERE table_schema = 'holdfast' AND table_name = ANY ($1)
           AND column_name = ANY ('{id,job_id,request_id,named_job,waits_for}')`,
        // A runner names itself: no sequence.
        [TABLES.filter((table) => table !== 'runner_presence')],
      );
      expect(types).toEqual([{ data_type: 'bigint' }]);
    });

    it('K66: an enqueue with a key takes one number for the row it writes, and none when it writes nothing', async () => {
      const taken = async (work: () => Promise<unknown>) => {
        const last = async () => {
          const [row] = await database.adminQuery<{ last_value: string }>('SELECT last_value FROM holdfast.job_id');
          return Number(row!.last_value);
        };
        const before = await last();
        await work();
        return (await last()) - before;
      };
      await setAll('1000');
      // The key depends on n, else the function is called once for all rows.
      const enqueue = (times: number) =>
        database.adminQuery(
          `SELECT e.disposition FROM generate_series(1, $1) AS n CROSS JOIN LATERAL holdfast.enqueue_keyed(
             'demo.job', NULL, left('key', 3 + n * 0), 5::smallint, NULL, 8, '{}', 1::smallint, false, false) AS e`,
          [times],
        );
      expect(await taken(() => enqueue(1))).toBe(1);
      expect(await taken(() => enqueue(100))).toBe(100);
      await database.adminQuery(
        `UPDATE holdfast.job SET state = 1, attempt = 1, lease_token = $1, lease_owner = 'w', lease_until = now(), claimed_at = now()`,
        [TOKEN],
      );
      expect(await taken(() => enqueue(100))).toBe(0);
      const rows = await database.adminQuery('SELECT count(*)::int AS jobs FROM holdfast.job');
      expect(rows).toEqual([{ jobs: 1 }]);
    });

    it.each([
      ['2147483646', ['2147483647', '2147483648', '2147483649']],
      ['9007199254740991', ['9007199254740992', '9007199254740993', '9007199254740994']],
    ])('K66: from %s on ids go on, as strings, and are found again', async (from, expected) => {
      await setAll(from);
      expect([await job(), await request(), await job()]).toEqual(expected);
      const found = await database.adminQuery('SELECT id FROM holdfast.job WHERE id = $1', [expected[2]]);
      expect(found).toEqual([{ id: expected[2] }]);
    });
  });
});
