import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Migrator } from '@holdfast/kernel';
import { createEmptyDatabase, type TestDatabase, type TestRole } from '@holdfast/testing';
import { type Client, type DatabaseError, escapeIdentifier } from 'pg';
import { queueMigrations, sqlEnqueueGrantsFor } from '../src/index.js';

/** A schema whose name must be quoted everywhere; the caller has two grants and no search path. */
const schema = 'The "Queue"';
const at = escapeIdentifier(schema);
const enqueue = (rest: string) => `SELECT * FROM ${at}.enqueue(${rest})`;
const deep = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;

describe('enqueue in SQL', () => {
  let database: TestDatabase;
  let caller: Client;
  let owner: Client;
  let role: TestRole;

  const jobs = async () =>
    (await owner.query<Record<string, unknown>>(`SELECT * FROM ${at}.job ORDER BY ${at}.job.id`)).rows;
  const refusal = (text: string, values: unknown[] = [], client = caller) =>
    client.query(text, values).then(
      () => undefined,
      ({ code, message }: DatabaseError) => ({ code, message }),
    );
  const refused = (code: string, message: RegExp | string) => ({
    code,
    message: expect.stringMatching(message) as string,
  });

  beforeAll(async () => {
    database = await createEmptyDatabase();
    await database.adminQuery('REVOKE ALL ON SCHEMA public FROM PUBLIC');
    const [ownerRole, callerRole] = [await database.createRole(), await database.createRole()];
    role = callerRole;
    await database.adminQuery(`CREATE SCHEMA ${at} AUTHORIZATION ${ownerRole.name}`);
    await database.adminQuery(`ALTER ROLE ${role.name} SET search_path = ''`);
    owner = await database.client({ connectionString: ownerRole.url });
    await new Migrator(owner, { migrations: queueMigrations, schema }).up();
    for (const statement of sqlEnqueueGrantsFor(schema, role.name)) await owner.query(statement);
    caller = await database.client({ connectionString: role.url });
  });
  beforeEach(() => database.adminQuery(`TRUNCATE ${at}.job, ${at}.job_request`));
  afterAll(async () => {
    await database.adminQuery('DROP SCHEMA IF EXISTS own, shop CASCADE');
    await database.drop();
  });

  it('Q9: a role with no other right enqueues: defaults, and everything that can be said', async () => {
    await caller.query(enqueue(`'demo.job', '{"n": 1}'`));
    const all = `'demo.job', '{"n": 2}', due_at => '2090-01-01Z', priority => 0, tenant => 'acme', max_attempts => -1, payload_version => 3`;
    const { rows } = await caller.query(enqueue(all));
    expect(rows).toEqual([{ disposition: 'created', id: expect.any(String) as string, payload_differs: false }]);
    const [first, second] = await jobs();
    expect(first).toMatchObject({
      max_attempts: 8,
      payload: { n: 1 },
      payload_version: 1,
      priority: 5,
      tenant_id: null,
    });
    expect(second).toMatchObject({ max_attempts: null, payload_version: 3, priority: 0, tenant_id: 'acme' });
    expect(second!['due_at']).toEqual(new Date('2090-01-01Z'));
    await caller.query(enqueue(`'demo.job', '{}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL`));
    expect((await jobs())[2]).toMatchObject({ dedupe_key: null, max_attempts: 8, payload_version: 1, priority: 5 });
  });

  it('Q9: psql, as that role', async () => {
    const text = enqueue(`'demo.job', '{"n": 1}', dedupe_key => 'k'`);
    const { stdout } = await promisify(execFile)('psql', ['-XAt', '-v', 'ON_ERROR_STOP=1', '-c', text, role.url]);
    expect(stdout).toMatch(/^\d+\|created\|f\n$/);
    expect(await jobs()).toHaveLength(1);
  });

  it.each(['text', 'varchar', 'json', 'jsonb'])('Q9: the payload is %s, a literal or a parameter', async (type) => {
    await caller.query(enqueue(`'demo.job', '{"n": 1}'::${type}`));
    await caller.query(enqueue(`'demo.job', $1::${type}`), ['{"n": 1}']);
    await caller.query(enqueue(`$1, $2`), ['demo.job', { n: 1 }]);
    expect((await jobs()).map(({ payload }) => payload)).toEqual([{ n: 1 }, { n: 1 }, { n: 1 }]);
  });

  it('Q9: a cast of the caller’s own is not run with the rights of the owner', async () => {
    await database.adminQuery(`CREATE SCHEMA own AUTHORIZATION ${role.name}`);
    await caller.query(`CREATE TYPE own.trap AS (a int)`);
    await caller.query(
      `CREATE FUNCTION own.spring(own.trap) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'sprung as %', current_user; END $$`,
    );
    await caller.query('CREATE CAST (own.trap AS text) WITH FUNCTION own.spring(own.trap)');
    expect(await refusal(enqueue(`'demo.job', ROW(1)::own.trap`))).toEqual(
      refused('HF011', /^queue\.payload_refused: .*type own\.trap: cast it/),
    );
    await caller.query(`CREATE DOMAIN own.checked AS text CHECK (VALUE <> '')`);
    expect(await refusal(enqueue(`'demo.job', '{}'::own.checked`))).toEqual(refused('HF011', 'own.checked'));
  });

  it.each<[string, string]>([
    ['the kind', `NULL, '{}'`],
    ['the kind', `'', '{}'`],
    ['the kind', `'Demo', '{}'`],
    ['the kind', `'demo..job', '{}'`],
    ['the kind', `E'demo\\n', '{}'`],
    ['the kind', `'démo', '{}'`],
    ['the kind', `repeat('a', 101), '{}'`],
    ['dedupe_key is empty', `'demo.job', '{}', dedupe_key => ''`],
    ['dedupe_key is over 512 bytes', `'demo.job', '{}', dedupe_key => repeat('é', 257)`],
    ['due_at', `'demo.job', '{}', due_at => 'infinity'`],
    ['due_at', `'demo.job', '{}', due_at => '-infinity'`],
    ['due_at', `'demo.job', '{}', due_at => '1969-12-31Z'`],
    ['priority', `'demo.job', '{}', priority => 10`],
    ['priority', `'demo.job', '{}', priority => -1`],
    ['tenant is empty', `'demo.job', '{}', tenant => ''`],
    ['tenant is over 200 bytes', `'demo.job', '{}', tenant => repeat('a', 201)`],
    ['max_attempts', `'demo.job', '{}', max_attempts => 0`],
    ['max_attempts', `'demo.job', '{}', max_attempts => 101`],
    ['when_running', `'demo.job', '{}', when_running => 'again'`],
    ['payload_version', `'demo.job', '{}', payload_version => 0`],
    ['payload_version', `'demo.job', '{}', payload_version => 32768`],
  ])('Q2, Q9: refused with queue.request_refused: %s (%s)', async (reason, rest) => {
    expect(await refusal(enqueue(rest))).toEqual(refused('HF010', `^queue\\.request_refused: [^]*${reason}`));
    expect(await jobs()).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['no JSON', ''],
    ['no JSON', '{"a": 1'],
    ['no JSON', "{'a': 1}"],
    ['JSON array', '[1]'],
    ['JSON string', '"a"'],
    ['JSON null', 'null'],
    ['JSON number', '1'],
    ['U\\+0000', '{"a": "x\\u0000"}'],
    ['U\\+0000', '{"x\\u0000": 1}'],
    ['lone surrogate', '{"a": "\\ud800"}'],
    ['lone surrogate', '{"a": "\\udc00x"}'],
    ['lone surrogate', '{"a": "\\ud83d\\u0041"}'],
    ['nested more than 100', deep(101)],
    ['nested more than 100', deep(100_000)],
  ])('Q2, Q9: refused with queue.payload_refused: %s (%p)', async (reason, payload) => {
    const { code, message } = (await refusal(enqueue(`'demo.job', $1::text`), [payload]))!;
    expect({ code, message }).toEqual(
      refused('HF011', `^queue\\.payload_refused: The payload of demo.job .*${reason}`),
    );
    expect(await jobs()).toEqual([]);
  });

  it('Q2, K92: the payload’s limit is in bytes, and what only looks like a mistake is stored as it is', async () => {
    const size = (bytes: number) => `{"a":"${'é'.repeat((bytes - 8) / 2)}"}`;
    await caller.query(enqueue(`'demo.job', $1::text`), [size(262_144)]);
    expect(await refusal(enqueue(`'demo.job', $1::text`), [size(262_146)])).toEqual(
      refused('HF012', '^queue\\.payload_too_large'),
    );
    await database.adminQuery(`TRUNCATE ${at}.job`);
    const fine = ['{"a":"\\\\u0000 \\\\ud800 \\ud83d\\ude00"}', deep(100), `{"a\\"[":"${'[{'.repeat(200)}\\\\"}`];
    for (const payload of fine) await caller.query(enqueue(`'demo.job', $1::text`), [payload]);
    expect((await jobs()).map(({ payload }) => payload)).toEqual(fine.map((text) => JSON.parse(text) as unknown));
  });

  it.each(['off', 'on'])(
    'Q9: settings of the session change nothing (standard_conforming_strings = %s)',
    async (on) => {
      const session = await database.client({ connectionString: role.url });
      await session.query(
        `SET standard_conforming_strings = ${on}; SET search_path = pg_temp; SET DateStyle = 'SQL, DMY'; SET TimeZone = 'Asia/Tokyo'`,
      );
      await session.query(`CREATE DOMAIN pg_temp.text AS pg_catalog.text CHECK (false)`);
      await session.query(enqueue(`'demo.job', $1::pg_catalog.text`), ['{"a":"\\\\u0000"}']);
      expect(await refusal(enqueue(`'demoxjob.', '{}'`), [], session)).toMatchObject({ code: 'HF010' });
      expect(await refusal(enqueue(`'demo.job', $1::pg_catalog.text`), [deep(101)], session)).toMatchObject({
        code: 'HF011',
      });
      expect(await jobs()).toHaveLength(1);
      await session.end();
    },
  );

  it('Q1, Q9: it joins the caller’s transaction; a refusal inside a savepoint leaves the transaction usable', async () => {
    await caller.query('BEGIN');
    await caller.query(enqueue(`'demo.job', '{"n": 1}'`));
    await caller.query('SAVEPOINT one');
    await caller.query(enqueue(`'demo.job', '{"n": 2}', dedupe_key => 'k'`));
    expect(await refusal(enqueue(`'Bad', '{}'`))).toMatchObject({ code: 'HF010' });
    await caller.query('ROLLBACK TO SAVEPOINT one');
    await caller.query(enqueue(`'demo.job', '{"n": 3}', dedupe_key => 'k'`));
    expect(await jobs()).toEqual([]);
    await caller.query('COMMIT');
    expect((await jobs()).map(({ payload }) => payload)).toEqual([{ n: 1 }, { n: 3 }]);
    await caller.query('BEGIN');
    await caller.query(enqueue(`'demo.job', '{}'`));
    await caller.query('ROLLBACK');
    expect(await jobs()).toHaveLength(2);
  });

  it('Q9: a trigger of the application’s table enqueues with its row, and a batch is one statement', async () => {
    await database.adminQuery(`CREATE SCHEMA shop AUTHORIZATION ${role.name}`);
    await caller.query('CREATE TABLE shop.orders (id int PRIMARY KEY, buyer text)');
    await caller.query(`CREATE FUNCTION shop.confirm() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM ${at}.enqueue('order.confirm', jsonb_build_object('orderId', NEW.id), dedupe_key => 'order ' || NEW.id);
        RETURN NULL;
      END $$`);
    await caller.query(
      'CREATE TRIGGER confirm AFTER INSERT ON shop.orders FOR EACH ROW EXECUTE FUNCTION shop.confirm()',
    );
    await caller.query(`INSERT INTO shop.orders SELECT n, 'x' FROM generate_series(1, 3) n`);
    await caller.query('BEGIN');
    await caller.query(`INSERT INTO shop.orders VALUES (4, 'x')`);
    await caller.query('ROLLBACK');
    expect((await jobs()).map(({ payload }) => payload)).toEqual([{ orderId: 1 }, { orderId: 2 }, { orderId: 3 }]);
    const { rows } = await caller.query(
      `SELECT e.* FROM shop.orders o CROSS JOIN LATERAL ${at}.enqueue('order.bill', jsonb_build_object('id', o.id)) e`,
    );
    expect(rows).toHaveLength(3);
  });

  it.each([
    `SELECT id FROM ${at}.job`,
    `INSERT INTO ${at}.job (kind, payload) VALUES ('Bad', '1')`,
    `SELECT ${at}.enqueue_keyed('demo.job', NULL, 'k', 5::smallint, NULL, 8, '{}', 1::smallint, false, false)`,
    `SELECT ${at}.refused_payload('{}')`,
    `SELECT nextval('${at}.job_id')`,
    `SELECT * FROM ${at}.migration`,
  ])('Q9: that role may not: %s', async (text) => {
    expect(await refusal(text)).toMatchObject({ code: '42501' });
  });
});
