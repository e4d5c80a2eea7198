import { Client } from 'pg';
import { createTestDatabase, TcpProxy, waitFor, within, type TestDatabase } from '@holdfast/testing';

let database: TestDatabase;
let proxy: TcpProxy;
const clients: Client[] = [];

async function client(config: { connectionTimeoutMillis?: number } = {}): Promise<Client> {
  const made = new Client({ connectionString: proxy.url, ...config });
  made.on('error', () => undefined);
  clients.push(made);
  await made.connect();
  return made;
}

beforeAll(async () => {
  database = await createTestDatabase();
  await database.adminQuery('CREATE TABLE effects (id int)');
});

afterAll(() => database.drop());

beforeEach(async () => {
  proxy = await TcpProxy.open(database.url);
});

afterEach(async () => {
  await proxy.close();
  await Promise.allSettled(clients.splice(0).map((each) => each.end()));
});

describe('TcpProxy', () => {
  it('passes everything on', async () => {
    const through = await client();
    const { rows } = await through.query<{ length: number }>("SELECT length(repeat('x', 300000))");
    expect(rows).toEqual([{ length: 300_000 }]);
    expect(proxy.connected).toBe(1);
  });

  it('severs: the client learns at once, a new connection works', async () => {
    const through = await client();
    const lost = through.query('SELECT pg_sleep(30)');
    proxy.sever();
    await expect(within(lost, 5_000, 'the error')).rejects.toThrow();
    expect((await (await client()).query('SELECT 1')).rowCount).toBe(1);
  });

  it('freezes: nothing arrives and nothing is closed', async () => {
    const through = await client();
    proxy.freeze();
    const lost = through.query('INSERT INTO effects VALUES (1)');
    await expect(within(lost, 300, 'an answer')).rejects.toThrow('in vain');
    expect(await database.adminQuery('SELECT id FROM effects WHERE id = 1')).toEqual([]);
    proxy.sever();
    await expect(lost).rejects.toThrow();
  });

  it('loses the answer to a COMMIT that the server has carried out', async () => {
    const through = await client();
    proxy.when({ act: (it) => it.freeze('answers'), text: 'COMMIT' });
    await through.query('BEGIN; INSERT INTO effects VALUES (2)');
    const commit = through.query('COMMIT');
    await waitFor(() => database.adminQuery('SELECT id FROM effects WHERE id = 2').then((rows) => rows[0]), {
      what: 'the commit',
    });
    proxy.sever();
    await expect(commit).rejects.toThrow();
  });

  it('severs before a COMMIT reaches the server', async () => {
    const through = await client();
    proxy.when({ act: (it) => it.sever(), moment: 'before', text: 'COMMIT' });
    await through.query('BEGIN; INSERT INTO effects VALUES (3)');
    await expect(through.query('COMMIT')).rejects.toThrow();
    expect(await database.adminQuery('SELECT id FROM effects WHERE id = 3')).toEqual([]);
  });

  it('refuses new connections and passes again when told', async () => {
    proxy.refuse();
    await expect(client()).rejects.toThrow();
    proxy.pass();
    expect((await (await client()).query('SELECT 1')).rowCount).toBe(1);
  });

  it('delays without reordering when the delay shrinks', async () => {
    const through = await client();
    proxy.delay(150);
    const start = performance.now();
    const slow = through.query<{ n: number }>('SELECT 1 AS n');
    proxy.delay(0);
    const fast = through.query<{ n: number }>('SELECT 2 AS n');
    expect([(await slow).rows[0]?.n, (await fast).rows[0]?.n]).toEqual([1, 2]);
    expect(performance.now() - start).toBeGreaterThanOrEqual(0);
  });
});
