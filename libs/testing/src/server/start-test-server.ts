import { dockerAnswers, startDockerTestServer } from './docker.test-server.js';
import { startEmbeddedTestServer } from './embedded.test-server.js';
import { serverPrograms, type TestServer } from './test-server.js';

/**
 * startTestServer gives the run its PostgreSQL: `TEST_DATABASE_URL` if set (its user must be a superuser), else a container where a Docker
 * engine answers, else the embedded server; `TEST_POSTGRES_PROGRAMS` names a version of that, and then it is the one. It throws when none can be had: a run without a server must not look like a run that passed.
 */
export async function startTestServer(): Promise<TestServer> {
  const url = process.env.TEST_DATABASE_URL;
  if (url) return { kind: 'external', stop: () => Promise.resolve(), url };
  const refused: string[] = [];
  if (!serverPrograms() && (await dockerAnswers())) {
    try {
      return await startDockerTestServer();
    } catch (error) {
      refused.push(`Docker: ${String(error)}`);
    }
  }
  try {
    return await startEmbeddedTestServer();
  } catch (error) {
    refused.push(`embedded: ${String(error)}`);
    throw new Error(
      `The tests need a PostgreSQL server and none could be had. Set TEST_DATABASE_URL to one.\n${refused.join('\n')}`,
    );
  }
}
