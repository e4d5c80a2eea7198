import type { TestDatabase } from '@holdfast/testing';
import type { Pool } from 'pg';
import { EntitySchema } from 'typeorm';
import { pgPool } from '../src/transaction/pg.database.js';
import type { Database } from '../src/transaction/database.js';
import { typeOrm } from '../src/transaction/typeorm.database.js';

/** NoteRow is one row of the table that these tests write to. */
export interface NoteRow {
  id?: number;
  text: string;
}

/** Note is that table as a TypeORM entity. */
export const Note = new EntitySchema<NoteRow>({
  columns: { id: { generated: 'increment', primary: true, type: 'int' }, text: { type: 'text', unique: true } },
  name: 'note',
});

/** OpenedDatabase is a Database under test with the pool behind it. */
export interface OpenedDatabase {
  readonly database: Database;
  readonly pool: Pool;
}

/** createNotes makes the table. */
export async function createNotes(database: TestDatabase): Promise<void> {
  await database.adminQuery(
    'CREATE TABLE note (id serial PRIMARY KEY, text text NOT NULL, CONSTRAINT note_text UNIQUE (text) DEFERRABLE INITIALLY DEFERRED)',
  );
  await database.adminQuery('CREATE TABLE plain (id int PRIMARY KEY)');
}

/** notes answers what has been committed. */
export async function notes(database: TestDatabase): Promise<string[]> {
  const rows = await database.adminQuery<{ text: string }>('SELECT text FROM note ORDER BY id');
  return rows.map(({ text }) => text);
}

/** KINDS are the two ways to an application's database: the rules hold for both. */
export const KINDS: Record<'pg' | 'typeorm', (database: TestDatabase, max?: number) => Promise<OpenedDatabase>> = {
  pg: (database, max = 3) => {
    const pool = database.pool({ max });
    return Promise.resolve({ database: pgPool(pool), pool });
  },
  typeorm: async (database, max = 3) => {
    const dataSource = await database.dataSource({ entities: [Note], poolSize: max });
    const pool = (dataSource.driver as unknown as { master: Pool }).master;
    return { database: typeOrm(dataSource), pool };
  },
};
