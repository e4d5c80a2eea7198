import { createTestDatabase, spawnTs } from '@holdfast/testing';

describe('A process that has closed its queue', () => {
  it.each(['pg', 'typeorm'])('R17, K55: ends by itself within a second, without a warning, on %s', async (using) => {
    const db = await createTestDatabase();
    const child = spawnTs('libs/queue/test/attack-runner/exit.child.ts', {
      env: { DATABASE_URL: db.url, USING: using },
    });
    await child.event('worked');
    child.send({ event: 'close' });
    expect(await child.exit()).toEqual({ code: 0, signal: null });
    expect(child.lines.filter((line) => !/^ended after \d{1,3} ms$/.test(line))).toEqual([]);
    expect(await db.adminQuery('SELECT kind FROM holdfast.job WHERE state = 1')).toEqual([]);
    expect(await db.backends()).toEqual([]);
    await db.drop();
  });
});
