import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { Client } from 'pg';
import { freePort, spawnTs, testbed, waitFor, type Testbed } from '@holdfast/testing';

const RUN = 'libs/testing/test/fixtures/run-with-server.ts';

function listening(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

describe('the server of a test run', () => {
  it('is stopped and its folder removed when the run ends', async () => {
    const run = spawnTs(RUN, { env: { TEST_DATABASE_URL: '' } });
    const bed = (await run.event('ready')).testbed as Testbed;
    expect(await listening(bed.url)).toBe(true);
    run.send({ end: true });
    expect(await run.exit()).toMatchObject({ code: 0 });
    expect(await listening(bed.url)).toBe(false);
    if (bed.logFile) expect(existsSync(dirname(bed.logFile))).toBe(false);
  });

  it('is stopped and its folder removed when the run is killed', async () => {
    const run = spawnTs(RUN, { env: { TEST_DATABASE_URL: '' } });
    const bed = (await run.event('ready')).testbed as Testbed;
    await run.kill();
    await waitFor(async () => !(await listening(bed.url)), { what: 'the server to stop' });
    if (bed.logFile) {
      const folder = dirname(bed.logFile);
      await waitFor(() => !existsSync(folder), { what: 'its folder to be removed' });
    }
  });

  it('is stopped by the next run when it was killed together with its keeper', async () => {
    const killed = spawnTs(RUN, { env: { DOCKER_HOST: 'tcp://127.0.0.1:1', TEST_DATABASE_URL: '' } });
    const { keeper, testbed: bed } = (await killed.event('ready')) as unknown as { keeper: number; testbed: Testbed };
    process.kill(keeper, 'SIGKILL');
    await killed.kill();
    expect(await listening(bed.url)).toBe(true);
    const next = spawnTs(RUN, { env: { DOCKER_HOST: 'tcp://127.0.0.1:1', TEST_DATABASE_URL: '' } });
    await next.event('ready');
    await waitFor(async () => !(await listening(bed.url)), { what: 'the server to stop' });
    await waitFor(() => !existsSync(dirname(bed.logFile ?? '')), { what: 'its folder to be removed' });
    next.send({ end: true });
    await next.exit();
  });

  it('is the one of TEST_DATABASE_URL when set, which keeps running without the databases of the run', async () => {
    const run = spawnTs(RUN, { env: { TEST_DATABASE_URL: testbed().url } });
    const bed = (await run.event('ready')).testbed as Testbed;
    expect(bed).toMatchObject({ kind: 'external', url: testbed().url });
    run.send({ end: true });
    await run.exit();
    const client = new Client({ connectionString: testbed().url });
    await client.connect();
    const left = await client.query('SELECT 1 FROM pg_database WHERE starts_with(datname, $1)', [bed.prefix]);
    await client.end();
    expect(left.rowCount).toBe(0);
  });

  it('fails the run loudly when it cannot be had', async () => {
    const port = await freePort();
    const run = spawnTs(RUN, { env: { TEST_DATABASE_URL: `postgres://nobody:x@127.0.0.1:${port}/postgres` } });
    expect(await run.exit()).toEqual({ code: 1, signal: null });
    expect(run.lines.join('\n')).toContain('ECONNREFUSED');
  });
});
