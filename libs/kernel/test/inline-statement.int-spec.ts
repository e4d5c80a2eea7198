import { createEmptyDatabase, type TestDatabase } from '@holdfast/testing';
import type { Client } from 'pg';
import { inlineStatement } from '../src/sql/inline-statement.js';
import { beginText } from '../src/transaction/begin-text.js';

const HOSTILE = [
  '',
  `'`,
  `''`,
  `\\`,
  `\\'`,
  `\\\\'; DROP TABLE precious; --`,
  `'; DROP TABLE precious; COMMIT; --`,
  `$1`,
  `$$`,
  `E'\\x27'`,
  '{a,"b"}',
  'NULL',
  '\r\n\t\b\u0001',
  '\u2028é漢😀',
  ' trailing ',
];

describe.each(['on', 'off'])(
  'texts that were written into statements, with standard_conforming_strings %s',
  (conforming) => {
    let database: TestDatabase;
    let client: Client;

    beforeAll(async () => {
      database = await createEmptyDatabase();
      client = await database.client();
      await client.query(
        `SET standard_conforming_strings = ${conforming}; SET backslash_quote = on; SET escape_string_warning = off`,
      );
      await client.query('CREATE TABLE precious ()');
    });
    afterAll(async () => {
      expect(await database.adminQuery('SELECT 1 FROM pg_class WHERE relname = $1', ['precious'])).toHaveLength(1);
      await database.drop();
    });

    it.each(HOSTILE)('mean what the parameter %j meant', async (value) => {
      const statement = {
        text: 'SELECT $1::text AS one, $2::text[] AS list, $3::int AS n',
        values: [value, [value, null], -7],
      };
      const sent = await client.query(statement.text, statement.values);
      const inlined = await client.query(inlineStatement(statement));
      expect(inlined.rows).toEqual(sent.rows);
      expect(inlined.rows).toEqual([{ list: [value, null], n: -7, one: value }]);
    });

    it.each(HOSTILE)('are the setting %j of the transaction', async (value) => {
      await client.query(beginText({ settings: { 'app.scope': value, application_name: 'x' } }, []));
      const { rows } = await client.query(`SELECT current_setting('app.scope') AS scope`);
      expect(rows).toEqual([{ scope: value }]);
      await client.query('ROLLBACK');
    });
  },
);
