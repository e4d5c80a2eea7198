import { existsSync } from 'node:fs';
import { request, type RequestOptions } from 'node:http';
import { serverSettings, type TestServer } from './test-server.js';

const IMAGE = 'postgres:18-alpine';
const ANSWER_WITHIN_MS = 2_000;

/** dockerAnswers says whether a Docker engine can be asked for a container. */
export function dockerAnswers(): Promise<boolean> {
  const address = engineAddress();
  if (!address) return Promise.resolve(false);
  return new Promise((resolve) => {
    const asked = request({ ...address, path: '/_ping', timeout: ANSWER_WITHIN_MS }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.on('error', () => resolve(false));
    asked.on('timeout', () => asked.destroy(new Error('no answer')));
    asked.end();
  });
}

/** startDockerTestServer starts PostgreSQL in a container. */
export async function startDockerTestServer(): Promise<TestServer> {
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql');
  const flags = Object.entries(serverSettings()).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const container = await new PostgreSqlContainer(IMAGE)
    .withUsername('postgres')
    .withPassword('holdfast')
    .withDatabase('postgres')
    .withCommand(['postgres', ...flags])
    .start();
  const stop = async () => {
    await container.stop();
  };
  return { kind: 'docker', stop, url: container.getConnectionUri() };
}

function engineAddress(): RequestOptions | undefined {
  const host = process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock';
  if (!URL.canParse(host)) return undefined;
  const url = new URL(host);
  if (url.protocol === 'unix:') return existsSync(url.pathname) ? { socketPath: url.pathname } : undefined;
  return { host: url.hostname, port: url.port || 2375 };
}
