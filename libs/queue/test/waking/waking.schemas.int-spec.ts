import { createEmptyDatabase, type TestDatabase, within } from '@holdfast/testing';
import { Note, Runs, WakingStand } from './waking.stand.js';

const SCHEMAS = ['holdfast', 'Mixed-Case "quoted".x', "it's", 'back\\slash', `long ${'é'.repeat(29)}`];

describe('Waking, by schema', () => {
  let db: TestDatabase;
  let stand: WakingStand;

  beforeAll(async () => {
    db = await createEmptyDatabase();
    stand = new WakingStand(db);
  });
  afterEach(() => stand.close());
  afterAll(() => db.drop());

  it.each(SCHEMAS)('Q10, K100: a commit wakes a consumer that would poll in an hour: schema %s', async (schema) => {
    const runs = new Runs();
    await stand.handling(runs.run, { schema });
    await stand.idle(schema);
    await stand.queue({ schema }).jobs.enqueue(Note, { n: 7 }, { in: 'own' });
    await within(runs.of(7), 10_000, 'the job to start');
  });

  it('K102: two schemas in one database at once wake each their own, over one connection', async () => {
    const [ours, theirs] = [new Runs(), new Runs()];
    await stand.handling(ours.run, { schema: 'ours' });
    await stand.handling(theirs.run, { schema: 'theirs' });
    await stand.idle('ours');
    await stand.idle('theirs');
    expect(await stand.listeners()).toHaveLength(1);
    const [heardByUs, heardByThem] = [await stand.heard('ours'), await stand.heard('theirs')];
    await stand.queue({ schema: 'theirs' }).jobs.enqueue(Note, { n: 1 }, { in: 'own' });
    await within(theirs.of(1), 10_000, 'their job to start');
    await heardByUs.flush();
    await heardByThem.flush();
    expect([heardByUs.channels.length, heardByThem.channels.length]).toEqual([0, 1]);
    expect(ours.seen).toEqual([]);
    await stand.queue({ schema: 'ours' }).jobs.enqueue(Note, { n: 2 }, { in: 'own' });
    await within(ours.of(2), 10_000, 'our job to start');
    expect(theirs.seen).toEqual([1]);
  });
});
