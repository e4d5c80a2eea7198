import { spawnTs, type SpawnedProcess, type TestDatabase } from '@holdfast/testing';
import type { RunnerOptions } from '../src/runner/runner.options.js';
import { emptied, RunnerStand, standDatabase } from './runner.stand.js';

/** ChildrenAt is where the processes of a `describe` stand: one database, and a stand on it that runs nothing itself. */
export interface ChildrenAt {
  readonly db: TestDatabase;
  readonly stand: RunnerStand;
}

/**
 * runnerChildren gives a `describe` runners in processes of their own on one database, which is emptied before each test; `at` is called once it is there. It answers
 * the function that starts one with `given` and the options of its own, and waits until it is ready. After each test every process of it is killed: a worker
 * that a failed test leaves behind would run the jobs of the next one.
 */
export function runnerChildren(
  given: RunnerOptions,
  at: (opened: ChildrenAt) => void,
): (options?: RunnerOptions) => Promise<SpawnedProcess> {
  let children: SpawnedProcess[] = [];
  let db: TestDatabase;
  let stand: RunnerStand;

  beforeAll(async () => {
    db = await standDatabase();
    stand = await RunnerStand.open(db);
    at({ db, stand });
  });
  beforeEach(() => emptied(db));
  afterEach(async () => {
    for (const child of children) if (!child.exited) await child.kill();
    children = [];
  });
  afterAll(async () => {
    await stand.close();
    await db.drop();
  });
  return async (options = {}) => {
    const env = { DATABASE_URL: db.url, RUNNER_OPTIONS: JSON.stringify({ ...given, ...options }) };
    const child = spawnTs('libs/queue/test/runner.child.ts', { env });
    children.push(child);
    await child.event('ready');
    return child;
  };
}
