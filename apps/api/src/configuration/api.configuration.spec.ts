import { ApiConfiguration } from './api.configuration.js';
import { ConfigurationError } from './configuration.error.js';

const DATABASE_URL = 'postgres://holdfast:secret-word@127.0.0.1:5432/hub';

function problemsOf(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    ApiConfiguration.read(env);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

describe('ApiConfiguration', () => {
  it('needs the database alone; an empty variable counts as not set', () => {
    const configuration = ApiConfiguration.read({ DATABASE_URL, PORT: '', WEBHOOK_URL: '' });
    expect(configuration).toMatchObject({
      bodyLimitBytes: 1_048_576,
      migrations: 'up',
      port: 3_000,
      schema: 'holdfast',
      webhooks: false,
    });
    expect(Object.isFrozen(configuration)).toBe(true);
  });

  it('reports all problems at once, each by its variable', () => {
    const problems = problemsOf({
      BODY_LIMIT_BYTES: '10',
      MIGRATIONS: 'maybe',
      PORT: '70000',
      WEBHOOK_URL: 'ftp://receiver.example',
    });
    expect(problems.map((problem) => problem.split(':', 1)[0])).toEqual([
      'BODY_LIMIT_BYTES',
      'DATABASE_URL',
      'MIGRATIONS',
      'PORT',
      'WEBHOOK_URL',
    ]);
  });

  it('never repeats a value, which may be a secret', () => {
    const text = problemsOf({
      DATABASE_URL: 'mysql://holdfast:secret-word@127.0.0.1/hub',
      WEBHOOK_URL: 'https://me:secret-word@receiver.example',
    });
    expect(text).toHaveLength(2);
    expect(text.join()).not.toContain('secret-word');
  });
});
