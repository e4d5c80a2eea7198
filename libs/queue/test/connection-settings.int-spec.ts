import { pgPool } from '@holdfast/kernel';
import { typeOrm } from '@holdfast/kernel/typeorm';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { createQueue, defineJob, type } from '../src/core.js';

const Send = defineJob('mail.send', { payload: type<object>() });

describe("The settings of the queue's own connections", () => {
  let db: TestDatabase;

  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.drop());

  /** settings are those of the test database, with a password that is asked for. */
  const settings = () => {
    const { hostname, password, pathname, port, username } = new URL(db.url);
    const asked = { times: 0 };
    return {
      asked,
      database: pathname.slice(1),
      host: hostname,
      password: () => {
        asked.times += 1;
        return Promise.resolve(decodeURIComponent(password));
      },
      port: Number(port),
      user: username,
    };
  };

  it('R19: come from the DataSource of the application, a password that is asked for included', async () => {
    const { asked, database, host, password, port, user } = settings();
    const address = { database, host, port, username: user };
    const source = new DataSource({ ...address, password: password as never, type: 'postgres' });
    await source.initialize();
    const before = asked.times;
    expect(before).toBeGreaterThan(0);
    const queue = createQueue({ database: typeOrm(source) });
    await queue.prepare();
    const { id } = await queue.jobs.enqueue(Send, {}, { in: 'own' });
    expect(await queue.lookup.find(id)).toMatchObject({ state: 'PENDING' });
    expect(asked.times).toBeGreaterThan(before);
    await queue.close();
    await source.destroy();
  });

  it('R19: go to the direct URL with the password of the application, where the URL names none', async () => {
    const { asked, ...connection } = settings();
    const pool = new Pool({ ...connection, host: 'nowhere.invalid' });
    const directUrl = `postgres://${connection.host}:${connection.port}/${connection.database}`;
    const queue = createQueue({ database: pgPool(pool), directUrl });
    await queue.prepare();
    expect(asked.times).toBeGreaterThan(0);
    await queue.close();
    await pool.end();
  });

  it('R19: come from the pool of the application, TLS included', () => {
    const ssl = { ca: 'the authority', rejectUnauthorized: true };
    const { asked: _, ...connection } = settings();
    const pool = new Pool({ ...connection, ssl });
    expect(pgPool(pool).connectionConfig()).toMatchObject({ ...connection, ssl });
  });
});
