import { hidesEnd } from './hidden-end.js';

describe('a text that may end its transaction behind its first statement', () => {
  it.each([
    'SELECT 1; COMMIT; BEGIN',
    'select 1;commit',
    'SELECT 1; /* a */ ROLLBACK',
    'SELECT 1; -- a\n END',
    `SELECT 'a'; PREPARE  TRANSACTION 'x'`,
    `SELECT E'a\\''; COMMIT; --'`,
    'SELECT 1; /* /* */ */ COMMIT',
    'SELECT $a$ $b$ $a$; ABORT',
  ])('R4: is seen: %s', (text) => {
    expect(hidesEnd(text)).toBe(true);
  });

  it.each([
    'SELECT 1',
    'SELECT 1;',
    'SELECT CASE WHEN true THEN 1 END;',
    'DO $$ BEGIN PERFORM 1; END $$',
    'DO $a$ BEGIN PERFORM 1; COMMIT; END $a$',
    `INSERT INTO note VALUES ('a; COMMIT'); SELECT 1`,
    `SELECT 1; SELECT 'it''s; the end'`,
    'SELECT 1 AS "a; end"; SELECT 2',
    'SELECT 1; SELECT 2 -- commit',
  ])('R4: is not seen in: %s', (text) => {
    expect(hidesEnd(text)).toBe(false);
  });
});
