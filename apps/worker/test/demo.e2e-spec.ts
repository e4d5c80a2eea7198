import { createEmptyDatabase, spawnTs, waitFor, type TestDatabase } from '@holdfast/testing';

const DEADLINE_MS = 150_000;

describe('npm run demo', () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createEmptyDatabase();
  });

  afterEach(async () => {
    await database.drop();
  });

  it(
    'R1: 329 real payloads, a worker killed twice in the middle: none lost, each counted once',
    async () => {
      const demo = spawnTs('tools/demo.ts', { env: { DATABASE_URL: database.url } });
      const end = await demo.exit(DEADLINE_MS);
      const text = demo.lines.join('\n');
      if (end.code !== 0) throw new Error(`The demo ended with ${end.code}:\n${text}`);
      for (const row of ['events accepted', 'deliveries by distinct id'])
        expect(text).toMatch(new RegExp(`^${row} +329 +329 +ok$`, 'm'));
      expect(text).toMatch(/^duplicate deliveries +at most \d+ +\d+ +ok$/m);
      expect(text).toMatch(/^statistics by repository and type +(\d+) rows +\1 equal of \1 +ok$/m);
      expect(text).toMatch(/^jobs left +0 +0 +ok$/m);
      expect(text).not.toContain('WRONG');
      const none = async () => (await database.backends()).length === 0;
      await waitFor(none, { what: 'the connections of the demo to be closed' });
    },
    DEADLINE_MS + 30_000,
  );

  it('stops everything on Ctrl-C and ends with 130', async () => {
    const demo = spawnTs('tools/demo.ts', { env: { DATABASE_URL: database.url } });
    await demo.line('worker killed', DEADLINE_MS);
    demo.signal('SIGINT');
    expect(await demo.exit()).toEqual({ code: 130, signal: null });
    await waitFor(async () => (await database.backends()).length === 0, {
      what: 'the connections of the demo to be closed',
    });
  });

  it('refuses a database that has events', async () => {
    await database.adminQuery('CREATE TABLE event (id text)');
    const demo = spawnTs('tools/demo.ts', { env: { DATABASE_URL: database.url } });
    expect(await demo.exit()).toEqual({ code: 1, signal: null });
    expect(demo.lines.join('\n')).toContain('needs an empty database');
  });
});
