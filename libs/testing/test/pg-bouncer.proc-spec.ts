import { createTestDatabase, PgBouncer, spawnTs, type TestDatabase, waitFor } from '@holdfast/testing';
import { Client } from 'pg';

describe('a pooler for tests', () => {
  let db: TestDatabase;

  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.drop());

  const backendThrough = async (url: string): Promise<number> => {
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    try {
      const { rows } = await client.query<{ name: string; pid: number }>(
        'SELECT current_database() AS name, pg_backend_pid() AS pid',
      );
      expect(rows[0]!.name).toBe(db.name);
      return rows[0]!.pid;
    } finally {
      await client.end();
    }
  };

  it('shares one connection among its clients in transaction mode', async () => {
    const pooler = await PgBouncer.start(db.url, { poolMode: 'transaction', poolSize: 1 });
    try {
      expect(await backendThrough(pooler.url)).toBe(await backendThrough(pooler.url));
    } finally {
      await pooler.close();
    }
    await expect(backendThrough(pooler.url)).rejects.toThrow();
  });

  it('ends with the process that started it, also when that is killed', async () => {
    const holder = spawnTs('libs/testing/test/fixtures/run-with-pooler.ts', { env: { DATABASE_URL: db.url } });
    const { url } = (await holder.event('ready')) as unknown as { url: string };
    expect(await backendThrough(url)).toBeGreaterThan(0);
    await holder.kill();
    const gone = () =>
      backendThrough(url).then(
        () => false,
        () => true,
      );
    await waitFor(gone, { what: 'the pooler to end' });
  });

  it('says how to get it where it is not to be had', async () => {
    const before = process.env.PGBOUNCER;
    process.env.PGBOUNCER = '/nowhere/pgbouncer';
    try {
      await expect(PgBouncer.start(db.url, { poolMode: 'session' })).rejects.toThrow(/PGBOUNCER names/);
    } finally {
      if (before === undefined) delete process.env.PGBOUNCER;
      else process.env.PGBOUNCER = before;
    }
  });
});
