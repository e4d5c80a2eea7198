import { createEmptyDatabase, spawnTs, type TestDatabase } from '@holdfast/testing';
import { queueMigrations } from '../src/index.js';

describe('processes that migrate as they start', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createEmptyDatabase();
  });

  afterAll(() => database.drop());

  it.each(['holdfast', 'Second-Round'])(
    'K52: four processes start on nothing in %s: all start, one applies',
    async (schema) => {
      const env = { SCHEMA: schema, URL: database.url };
      const processes = [1, 2, 3, 4].map(() => spawnTs('migrations/test/migrate.main.ts', { env }));
      await Promise.all(processes.map((process) => process.event('connected')));
      for (const process of processes) process.send({ go: true });
      const migrated = await Promise.all(processes.map((process) => process.event('migrated')));
      expect(migrated.flatMap(({ applied }) => applied as string[]).sort()).toEqual(
        queueMigrations.map(({ id }) => id),
      );
      const ends = await Promise.all(processes.map((process) => process.exit()));
      expect(ends.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    },
  );
});
