import { ConfigurationError } from '@holdfast/hub';
import { WorkerConfiguration } from './worker.configuration.js';

const DATABASE_URL = 'postgres://holdfast:secret-word@127.0.0.1:5432/hub';

function problemsOf(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    WorkerConfiguration.read(env);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

describe('WorkerConfiguration', () => {
  it('needs the database alone and refuses private addresses by default', () => {
    expect(WorkerConfiguration.read({ DATABASE_URL })).toMatchObject({
      allowPrivateAddresses: false,
      graceMs: 20_000,
      leaseMs: 60_000,
      pollMs: 2_000,
      poolSize: 12,
      slots: 10,
    });
  });

  it('reports all problems at once, each by its variable', () => {
    const problems = problemsOf({
      ALLOW_PRIVATE_ADDRESSES: 'yes',
      GRACE: '25',
      LEASE: '1s',
      POLL: 'soon',
      SLOTS: '0',
    });
    expect(problems.map((problem) => problem.split(':', 1)[0])).toEqual([
      'ALLOW_PRIVATE_ADDRESSES',
      'DATABASE_URL',
      'GRACE',
      'LEASE',
      'POLL',
      'SLOTS',
    ]);
  });

  it('needs a pool that holds the slots', () => {
    expect(problemsOf({ DATABASE_POOL_SIZE: '5', DATABASE_URL })).toEqual([
      'DATABASE_POOL_SIZE: expected at least SLOTS (10): each attached job holds a connection',
    ]);
  });

  it('never repeats a value, which may be a secret', () => {
    const text = problemsOf({ DATABASE_URL: 'mysql://me:secret-word@127.0.0.1/hub' }).join();
    expect(text).toContain('DATABASE_URL');
    expect(text).not.toContain('secret-word');
  });
});
