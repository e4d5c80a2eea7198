import { ConfigurationError } from '@holdfast/hub';
import { ApiConfiguration } from './api.configuration.js';

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
    const configuration = ApiConfiguration.read({ DATABASE_URL, OPERATOR_TOKEN: '', PORT: '' });
    expect(configuration).toMatchObject({
      bodyLimitBytes: 1_048_576,
      migrations: 'up',
      operatorToken: undefined,
      port: 3_000,
      schema: 'holdfast',
    });
    expect(Object.isFrozen(configuration)).toBe(true);
  });

  it('reports all problems at once, each by its variable', () => {
    const problems = problemsOf({
      BODY_LIMIT_BYTES: '10',
      MIGRATIONS: 'maybe',
      OPERATOR_TOKEN: 'short',
      PORT: '70000',
    });
    expect(problems.map((problem) => problem.split(':', 1)[0])).toEqual([
      'BODY_LIMIT_BYTES',
      'DATABASE_URL',
      'MIGRATIONS',
      'OPERATOR_TOKEN',
      'PORT',
    ]);
  });

  it('never repeats a value, which may be a secret', () => {
    const text = problemsOf({
      DATABASE_URL: 'mysql://holdfast:secret-word@127.0.0.1/hub',
      OPERATOR_TOKEN: 'secret-word',
    });
    expect(text).toHaveLength(2);
    expect(text.join()).not.toContain('secret-word');
  });
});
