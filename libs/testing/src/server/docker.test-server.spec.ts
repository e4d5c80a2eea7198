import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dockerAnswers } from './docker.test-server.js';

const before = process.env.DOCKER_HOST;
let engine: Server | undefined;

afterEach(async () => {
  if (before === undefined) delete process.env.DOCKER_HOST;
  else process.env.DOCKER_HOST = before;
  engine?.closeAllConnections();
  if (engine) await once(engine.close(), 'close');
  engine = undefined;
});

async function engineThat(answers: Parameters<typeof createServer>[1]): Promise<void> {
  engine = createServer({}, answers).listen(0, '127.0.0.1');
  await once(engine, 'listening');
  process.env.DOCKER_HOST = `tcp://127.0.0.1:${(engine.address() as AddressInfo).port}`;
}

describe('dockerAnswers', () => {
  it('is true for an engine that answers a ping', async () => {
    const paths: (string | undefined)[] = [];
    await engineThat((request, response) => {
      paths.push(request.url);
      response.end('OK');
    });
    expect(await dockerAnswers()).toBe(true);
    expect(paths).toEqual(['/_ping']);
  });

  it('is false, soon, for one that says nothing', async () => {
    await engineThat(() => undefined);
    expect(await dockerAnswers()).toBe(false);
  });

  it.each(['tcp://127.0.0.1:1', 'unix:///nowhere/docker.sock', 'nonsense'])('is false for %s', async (host) => {
    process.env.DOCKER_HOST = host;
    expect(await dockerAnswers()).toBe(false);
  });
});
