import type { TestDatabase } from '@holdfast/testing';
import { emptied, RunnerStand, standDatabase, type StandOptions, unhandledRejections } from './runner.stand.js';

/** StandAt is where one test stands. */
export interface StandAt {
  readonly db: TestDatabase;
  readonly stand: RunnerStand;
}

/** EachStandOptions are those of the stand, and what holds at its end. */
export interface EachStandOptions extends StandOptions {
  /** untilIdle waits after each test until every client is back in the pool. Default false. */
  readonly untilIdle?: boolean;
}

/**
 * eachStand gives each test of a `describe` a stand of its own on one emptied database, by calling `at` before it. After each the stand is closed, and nothing
 * may have been rejected that nobody caught.
 */
export function eachStand(
  at: (opened: StandAt) => void,
  { untilIdle = false, ...options }: EachStandOptions = {},
): void {
  let db: TestDatabase;
  let stand: RunnerStand;
  const unhandled = unhandledRejections();

  beforeAll(async () => (db = await standDatabase()));
  beforeEach(async () => {
    await emptied(db);
    stand = await RunnerStand.open(db, options);
    at({ db, stand });
  });
  afterEach(async () => {
    if (untilIdle) await stand.untilIdle();
    await stand.close();
    expect(unhandled).toEqual([]);
  });
  afterAll(() => db.drop());
}
