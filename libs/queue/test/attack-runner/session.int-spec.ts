import type { AttachedContext } from '../../src/handlers/handler.interface.js';
import { defineJob } from '../../src/domain/definition.js';
import { type } from '../../src/domain/payload.schema.js';
import type { TestDatabase } from '@holdfast/testing';
import { emptied, RunnerStand, standDatabase, unhandledRejections } from '../runner.stand.js';

const Break = defineJob('test.break', { payload: type<object>(), backoff: { delays: ['1h'] } });
const Look = defineJob('test.look', { payload: type<object>(), backoff: { delays: ['1h'] } });

const LEFTOVERS = `
  SELECT current_setting('application_name') AS app, current_setting('work_mem') AS mem, current_setting('my.leak', true) AS mine,
    (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS locks,
    (SELECT count(*)::int FROM pg_cursors WHERE is_holdable) AS cursors,
    (SELECT count(*)::int FROM pg_prepared_statements WHERE name = 'mine') AS prepared,
    (SELECT count(*)::int FROM pg_class WHERE relpersistence = 't' AND relnamespace = pg_my_temp_schema()) AS temporary,
    (SELECT count(*)::int FROM pg_listening_channels()) AS channels`;

describe.each(['pg', 'typeorm'] as const)('A session after a handler, on %s', (using) => {
  let db: TestDatabase;
  let stand: RunnerStand;
  const unhandled = unhandledRejections();

  beforeAll(async () => {
    db = await standDatabase();
    await db.adminQuery(`CREATE PROCEDURE commits() LANGUAGE plpgsql AS $$ BEGIN COMMIT; END $$`);
  });
  beforeEach(async () => {
    await emptied(db);
    stand = await RunnerStand.open(db, { poolSize: 1, using });
  });
  afterEach(async () => {
    await stand.untilIdle();
    await stand.close();
    expect(unhandled).toEqual([]);
  });
  afterAll(() => db.drop());

  const lookAfter = async (leak: (ctx: AttachedContext) => Promise<unknown>) => {
    let seen: unknown;
    stand.attached(Break, async (_job, ctx) => void (await leak(ctx)));
    stand.attached(
      Look,
      async (_job, ctx) =>
        void ({
          rows: [seen],
        } = await ctx.tx.sql.query(LEFTOVERS)),
    );
    const runner = await stand.start({ slots: 1 });
    const broken = await stand.enqueue(Break, {});
    runner.wake();
    await stand.seenOf('job.completed', broken);
    const looked = await stand.enqueue(Look, {});
    runner.wake();
    await stand.seenOf('job.completed', looked);
    return seen;
  };

  it.each([
    ['SET', `SET work_mem = '64kB'`],
    ['SET behind SET LOCAL', `SET LOCAL work_mem = '64kB'; SET work_mem = '128kB'`],
    ['SET behind a comment', `-- SET LOCAL\nSET work_mem = '64kB'`],
    ['SET SESSION', `SET SESSION work_mem = '64kB'`],
    ['set_config for the session', `SELECT set_config('my.leak', 'x', false)`],
    ['set_config in capitals', `SELECT pg_catalog.SET_CONFIG ('work_mem', '64kB', FALSE)`],
    ['set_config deep in a statement', `WITH a AS (SELECT set_config('my.leak', 'x', false)) SELECT * FROM a`],
    ['set_config in DO', `DO $$ BEGIN PERFORM set_config('my.leak', 'x', false); END $$`],
    ['SET in DO', `DO $$ BEGIN SET my.leak = 'x'; END $$`],
    ['a lock of the session', `SELECT pg_advisory_lock(7)`],
    ['a tried lock of the session', `SELECT pg_try_advisory_lock_shared(7, 8)`],
    ['a cursor WITH HOLD', `DECLARE c CURSOR WITH HOLD FOR SELECT 1`],
    ['PREPARE', `PREPARE mine AS SELECT 1`],
    ['a temporary table', `CREATE TEMP TABLE t (a int)`],
    ['SELECT INTO TEMP', `SELECT 1 AS a INTO TEMPORARY t2`],
    ['LISTEN', `LISTEN news`],
    ['DEALLOCATE ALL', `DEALLOCATE ALL`],
  ])('K31: %s is not found by the next job on the same pool', async (_, text) => {
    expect(await lookAfter((ctx) => ctx.tx.sql.query(text))).toEqual({
      app: 'app',
      channels: 0,
      cursors: 0,
      locks: 0,
      mem: '4MB',
      mine: null,
      prepared: 0,
      temporary: 0,
    });
  });

  it.each([
    ['DO with COMMIT', `DO $$ BEGIN COMMIT; END $$`],
    ['a procedure that commits', `CALL commits()`],
    ['COMMIT and BEGIN among others', `SELECT 1; COMMIT; BEGIN`],
    ['COMMIT AND CHAIN', `COMMIT AND CHAIN`],
    ['ROLLBACK AND CHAIN', `ROLLBACK AND CHAIN`],
    ['COMMIT behind a nested comment', `/* /* */ */ COMMIT`],
    ['PREPARE TRANSACTION', `PREPARE TRANSACTION 'x'`],
  ])('R4, K31: %s fails the attempt', async (_, text) => {
    stand.attached(Break, async (_job, ctx) => {
      await ctx.tx.sql.query(text).catch(() => undefined);
      await ctx.tx.sql.query(`INSERT INTO effect VALUES ('late')`).catch(() => undefined);
    });
    const runner = await stand.start({ slots: 1 });
    const id = await stand.enqueue(Break, {});
    runner.wake();
    await stand.seenOf('job.retried', id);
    expect(await stand.effects()).toEqual([]);
    expect(await stand.job(id)).toMatchObject({ attempt: 1, state: 'PENDING' });
  });
});
