import { SchemaName } from './schema-name.js';
import { Statement } from './statement.js';

const find = new Statement<{ id: string }, unknown>({
  name: 'find-job',
  text: (schema) => `SELECT 1 FROM ${schema.of('job')} WHERE id = $1::bigint`,
  values: ({ id }) => [id],
});

describe('a statement', () => {
  it('is written once per schema and quotes it', () => {
    const schema = new SchemaName('My "own" schema');
    const bound = find.bind(schema, { id: '7' });
    expect(bound.text).toBe(`SELECT 1 FROM "My ""own"" schema"."job" WHERE id = $1::bigint`);
    expect(bound.values).toEqual(['7']);
    expect(find.bind(schema, { id: '8' })).toEqual({ ...bound, values: ['8'] });
  });

  it('has a name that tells schemas apart and that the server does not cut off', () => {
    const names = ['a', 'b'].map((name) => find.bind(new SchemaName(name), { id: '1' }).name);
    expect(new Set(names).size).toBe(2);
    const long = new Statement<void, unknown>({ name: 'x'.repeat(200), text: () => 'SELECT 1', values: () => [] });
    expect(long.bind(new SchemaName('a'), undefined).name).toHaveLength(63);
  });
});

describe('a schema name', () => {
  it.each(['', 'x'.repeat(64), 'é'.repeat(32), 'a\0b', 'pg_jobs'])('refuses %j', (name) => {
    expect(() => new SchemaName(name)).toThrow(/cannot be used/);
  });

  it.each(['holdfast', 'Hold-Fast', 'a.b', 'a"b', 'x'.repeat(63)])('takes %j', (name) => {
    expect(new SchemaName(name).of('job')).toBe(`"${name.replaceAll('"', '""')}"."job"`);
  });
});
