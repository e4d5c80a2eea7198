import { Client, Pool } from 'pg';
import { DataSource } from 'typeorm';
import { InvalidDatabaseError } from '../errors/invalid-database.error.js';
import { pgPool } from './pg.database.js';
import { typeOrm } from './typeorm.database.js';

const dataSource = new DataSource({ type: 'postgres' });

describe('what a database is made of', () => {
  it('is a pool, or a DataSource that need not be initialized', () => {
    expect(pgPool(new Pool({ max: 3 })).poolSize).toBe(3);
    expect(typeOrm(dataSource).identity).toBe(dataSource);
  });

  it.each<[string, unknown]>([
    ['a single client', new Client()],
    ['a text', 'postgres://localhost/shop'],
    ['a DataSource: wrap it with typeOrm', dataSource],
    ['undefined', undefined],
    ['a value of type object', { max: 3 }],
  ])('pgPool refuses %s', (what, given) => {
    expect(() => pgPool(given as Pool)).toThrow(InvalidDatabaseError);
    expect(() => pgPool(given as Pool)).toThrow(what);
  });

  it.each<[string, unknown]>([
    ['a pool: wrap it with pgPool', new Pool()],
    ['the options of one', { type: 'postgres' }],
    ['null', null],
  ])('typeOrm refuses %s', (_, given) => {
    expect(() => typeOrm(given as DataSource)).toThrow(InvalidDatabaseError);
  });

  it('typeOrm refuses a DataSource of another database', () => {
    const other = Object.assign(Object.create(dataSource) as object, { options: { type: 'mysql' } });
    expect(() => typeOrm(other as DataSource)).toThrow('of type postgres, not mysql');
  });
});
