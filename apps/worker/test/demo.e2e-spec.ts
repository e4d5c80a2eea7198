import { createEmptyDatabase, spawnTs, waitFor, type TestDatabase } from '@holdfast/testing';

const DEADLINE_MS = 150_000;

describe('npm run demo', () => {
  let database: TestDatabase;
  let databaseUrl: string;

  beforeEach(async () => {
    database = await createEmptyDatabase();
    databaseUrl = (await database.createRole({ owner: true })).url;
  });

  afterEach(async () => {
    await database.drop();
  });

  it(
    'H5, R1, T1: 329 real payloads of three tenants, a worker killed twice in the middle: none lost, each counted once, none seen by another',
    async () => {
      const demo = spawnTs('tools/demo.ts', { env: { DATABASE_URL: databaseUrl } });
      const end = await demo.exit(DEADLINE_MS);
      const text = demo.lines.join('\n');
      if (end.code !== 0) throw new Error(`The demo ended with ${end.code}:\n${text}`);
      expect(text).toMatch(/^ +acme +globex +initech$/m);
      for (const row of ['events accepted', 'events stored'])
        expect(text).toMatch(new RegExp(`^${row} +110 of 110 +110 of 110 +109 of 109 +ok$`, 'm'));
      for (const row of ['deliveries received, by distinct id', 'deliveries received, by event', 'deliveries recorded'])
        expect(text).toMatch(new RegExp(`^${row} +(\\d\\d+) of \\1 +(\\d\\d+) of \\2 +(\\d\\d+) of \\3 +ok$`, 'm'));
      expect(text).toMatch(/^refused, as it is paused +0 +[1-9]\d* \(1 to \d+\) +0 +ok$/m);
      expect(text).toMatch(/^answered 503 at first +0 +0 +8 of 8 +ok$/m);
      for (const row of ['wrong signatures', 'events of others received', 'things of others shown'])
        expect(text).toMatch(new RegExp(`^${row} +0 +0 +0 +ok$`, 'm'));
      expect(text).toMatch(/^statistics by repository and type +(\d+) of \1 +(\d+) of \2 +(\d+) of \3 +ok$/m);
      expect(text).toMatch(/^pollers of its retention +1 of 1 +1 of 1 +1 of 1 +ok$/m);
      for (const row of ['rows seen without a tenant', 'jobs left'])
        expect(text).toMatch(new RegExp(`^${row} +0 +ok$`, 'm'));
      expect(text).toMatch(/^deliveries that arrived twice +\d+ \(at most \d+\) +ok$/m);
      expect(text).not.toContain('WRONG');
      const none = async () => (await database.backends()).length === 0;
      await waitFor(none, { what: 'the connections of the demo to be closed' });
    },
    DEADLINE_MS + 30_000,
  );

  it('stops everything on Ctrl-C and ends with 130', async () => {
    const demo = spawnTs('tools/demo.ts', { env: { DATABASE_URL: databaseUrl } });
    await demo.line('worker killed', DEADLINE_MS);
    demo.signal('SIGINT');
    expect(await demo.exit()).toEqual({ code: 130, signal: null });
    await waitFor(async () => (await database.backends()).length === 0, {
      what: 'the connections of the demo to be closed',
    });
  });

  it('refuses a database that has events', async () => {
    await database.adminQuery('CREATE TABLE event (id text)');
    const demo = spawnTs('tools/demo.ts', { env: { DATABASE_URL: databaseUrl } });
    expect(await demo.exit()).toEqual({ code: 1, signal: null });
    expect(demo.lines.join('\n')).toContain('needs an empty database');
  });

  it('T1: refuses a role that bypasses row level security, before it starts anything', async () => {
    const demo = spawnTs('tools/demo.ts', { env: { DATABASE_URL: database.url } });
    expect(await demo.exit()).toEqual({ code: 1, signal: null });
    expect(demo.lines.join('\n')).toContain('bypasses row level security');
  });
});
