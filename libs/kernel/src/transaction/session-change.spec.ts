import { hasChangedSession, mayChangeSession } from './session-change.js';

describe('K31: what a statement leaves in its session', () => {
  it.each([
    `SELECT set_config('a.b', $1, false)`,
    `SELECT set_config($1, $2, $3)`,
    `SELECT pg_catalog."set_config" ('a', 'b', FALSE)`,
    `WITH a AS (SELECT set_config('a.b', 'c', true), set_config('a.b', 'c', false)) SELECT 1`,
    `SELECT pg_advisory_lock(1)`,
    `SELECT pg_try_advisory_lock_shared(1, 2)`,
    `DECLARE c CURSOR WITH HOLD FOR SELECT 1`,
    `CREATE TEMP TABLE t (a int)`,
    `CREATE LOCAL TEMPORARY TABLE t (a int) ON COMMIT DELETE ROWS`,
    `SELECT 1 AS a INTO TEMP t`,
  ])('is seen in its text: %s', (text) => {
    expect(mayChangeSession(text)).toBe(true);
  });

  it.each([
    `SELECT set_config('a.b', $1, true)`,
    `SELECT set_config('a.b', 'c', TRUE ), set_config('a.c', 'd', true)`,
    `SELECT pg_advisory_xact_lock(1), pg_try_advisory_xact_lock(2), pg_advisory_unlock(3)`,
    `CREATE TEMP TABLE t (a int) ON COMMIT DROP`,
    `SELECT temp, hold FROM weather WHERE created > now()`,
    `UPDATE weather SET temp = 1`,
  ])('is not seen where there is nothing: %s', (text) => {
    expect(mayChangeSession(text)).toBe(false);
  });

  it.each([
    [`SET a.b = 'c'`, ['SET']],
    [`SET LOCAL a.b = 'c'; SET a.b = 'd'`, ['SET', 'SET']],
    [`-- SET LOCAL\nSET a.b = 'c'`, ['SET']],
    [`SET/**/a.b = 'c'`, ['SET']],
    [`DO $$ BEGIN SET a.b = 'c'; END $$`, ['DO']],
    [`SELECT 1; LISTEN news`, ['SELECT', 'LISTEN']],
    [`PREPARE a AS SELECT 1`, ['PREPARE']],
    [`DEALLOCATE ALL`, ['DEALLOCATE']],
  ])('is known by its tags: %s', (text, tags) => {
    expect(hasChangedSession(text, tags)).toBe(true);
  });

  it.each([
    [`SET LOCAL a.b = 'c'; SET CONSTRAINTS ALL IMMEDIATE`, ['SET', 'SET']],
    [`set  transaction read only`, ['SET']],
    [`UPDATE a SET b = 1`, ['UPDATE']],
    [`DO $$ BEGIN PERFORM 1; END $$`, ['DO']],
    ['', [undefined]],
  ])('is known not to be: %s', (text, tags) => {
    expect(hasChangedSession(text, tags)).toBe(false);
  });
});
