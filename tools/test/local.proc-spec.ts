import { createServer, connect } from 'node:net';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { createEmptyDatabase, freePort, isAlive, spawnTs, waitFor, type SpawnedProcess } from '@holdfast/testing';

const EVENT = { payload: { action: 'opened' }, repository: 'octo/hello', type: 'issues.opened' };
const folders: string[] = [];

// Each test starts, and stops, four processes or eight.
jest.setTimeout(180_000);

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-local-'));
  chmodSync(folder, 0o755);
  folders.push(folder);
  return folder;
}

async function freePorts(): Promise<Record<string, string>> {
  return { PORT: String(await freePort()), WORKER_PORT: String(await freePort()) };
}

async function start(folder: string, env: Record<string, string> = {}): Promise<SpawnedProcess> {
  const ports = await freePorts();
  return spawnTs('tools/local.ts', { env: { DATABASE_URL: '', HOLDFAST_DATA_FOLDER: folder, ...ports, ...env } });
}

/** What a start says about its parts: their ports and process ids. */
interface Parts {
  readonly api: { readonly pid: number; readonly url: string };
  readonly postgres: { readonly pid: number; readonly url: string };
  readonly worker: { readonly pid: number; readonly url: string };
}

async function ready(local: SpawnedProcess): Promise<Parts> {
  await local.line('Ctrl-C stops everything', 90_000);
  const part = async (pattern: RegExp) => {
    const [, url, pid] = pattern.exec(await local.line(pattern)) ?? [];
    return { pid: Number(pid), url: url ?? '' };
  };
  return {
    api: await part(/api: (http:\S+) \(process (\d+)\)/),
    postgres: await part(/PostgreSQL: (\S+) .*process (\d+)\)/),
    worker: await part(/worker: (http:\S+) \(process (\d+)\)/),
  };
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function listening(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('connect', () => socket.destroy() && resolve(true));
    socket.on('error', () => resolve(false));
  });
}

/** Waits until nothing of a start is left. */
async function allGone(parts: Parts): Promise<void> {
  for (const [name, { pid, url }] of Object.entries(parts) as [string, Parts['api']][]) {
    await waitFor(async () => !isAlive(pid) && !(await listening(url)), {
      deadlineMs: 30_000,
      what: `${name} to be gone`,
    });
  }
}

/** keyIn answers the API key that a line says. */
async function keyIn(local: SpawnedProcess): Promise<string> {
  return /Bearer (hfk_[\w-]+)/.exec(await local.line('Try: curl'))?.[1] ?? '';
}

/** Posts an event with the key that the start said. */
async function postEvent(local: SpawnedProcess, api: string): Promise<void> {
  const answer = await fetch(`${api}/events`, {
    body: JSON.stringify(EVENT),
    headers: { authorization: `Bearer ${await keyIn(local)}`, 'content-type': 'application/json' },
    method: 'POST',
  });
  expect(answer.status).toBe(202);
  await answer.body?.cancel();
}

/** runLine sends what the curl command of a line would, and answers the status and the body. Not every machine has curl. */
async function runLine(local: SpawnedProcess, said: string): Promise<string> {
  const command = (await local.line(said)).split(said)[1] ?? '';
  const options = [...command.matchAll(/-(H|d) '([^']*)'/g)].map(([, name, value]) => [name, value ?? ''] as const);
  const headers = options.filter(([name]) => name === 'H').map(([, value]) => value.split(': ') as [string, string]);
  const body = options.find(([name]) => name === 'd')?.[1];
  const [url] = /http:\S+/.exec(command) ?? [];
  const answer = await fetch(url ?? '', { headers, ...(body !== undefined && { body, method: 'POST' }) });
  return `${answer.status} ${await answer.text()}`;
}

afterAll(() => {
  for (const folder of folders) rmSync(folder, { force: true, recursive: true });
});

describe('npm start', () => {
  it('starts everything, says what to try, and Ctrl-C leaves nothing behind', async () => {
    const local = await start(newFolder());
    const parts = await ready(local);
    expect(await local.line('Try: curl')).toContain(`${parts.api.url}/events`);
    expect(await runLine(local, 'Try: ')).toMatch(/^202 /);
    expect(await local.line('Webhooks go to public')).toContain('ALLOW_PRIVATE_ADDRESSES=true npm start');
    const counted = async () => (await runLine(local, 'What came of it: ')).includes('"events":1');
    await waitFor(counted, { what: 'the event to be counted' });
    local.signal('SIGINT');
    local.signal('SIGINT');
    expect(await local.exit(60_000)).toEqual({ code: 0, signal: null });
    await allGone(parts);
  });

  it('stops everything and fails when one part is gone', async () => {
    const local = await start(newFolder());
    const parts = await ready(local);
    process.kill(parts.worker.pid, 'SIGKILL');
    expect(await local.exit(60_000)).toEqual({ code: 1, signal: null });
    await local.line('worker was ended by SIGKILL');
    await allGone(parts);
  });

  it('refuses a second start on the same data, and the first goes on', async () => {
    const folder = newFolder();
    const local = await start(folder);
    const parts = await ready(local);
    const second = await start(folder);
    expect(await second.exit()).toEqual({ code: 1, signal: null });
    await second.line(/already runs from this folder \(process \d+\)/);
    await postEvent(local, parts.api.url);
    await local.stop(60_000);
  });

  it('leaves nothing behind when it is killed', async () => {
    const local = await start(newFolder());
    const parts = await ready(local);
    await local.kill();
    await allGone(parts);
  });

  it('leaves nothing behind when the npm that it was started with is ended', async () => {
    const env = { DATABASE_URL: '', HOLDFAST_DATA_FOLDER: newFolder(), ...(await freePorts()) };
    const run = spawnTs('tools/test/fixtures/npm-run.ts', { args: ['start'], env });
    const { pid: npm } = (await run.event('npm')) as unknown as { pid: number };
    const parts = await ready(run);
    const local = Number(/kill (\d+)/.exec(await run.line('from a script: kill'))?.[1]);
    expect(isAlive(local)).toBe(true);
    process.kill(npm, 'SIGTERM');
    try {
      await allGone(parts);
      await waitFor(() => !isAlive(local), { what: 'the start to be gone' });
    } finally {
      if (isAlive(local)) process.kill(local, 'SIGTERM');
    }
  });

  it('starts on the data of a start that was killed together with the keeper of its server', async () => {
    const folder = newFolder();
    const crashed = await start(folder);
    const before = await ready(crashed);
    process.kill(before.postgres.pid, 'SIGKILL');
    await crashed.kill();
    expect(await listening(before.postgres.url)).toBe(true);

    const local = await start(folder);
    const parts = await ready(local);
    await postEvent(local, parts.api.url);
    await local.stop(60_000);
    await allGone({ ...parts, postgres: { ...parts.postgres, url: before.postgres.url } });
  });

  it('stops the server whose keeper was killed, before it says that everything has been stopped', async () => {
    const local = await start(newFolder());
    const parts = await ready(local);
    process.kill(parts.postgres.pid, 'SIGKILL');
    expect(await local.exit(60_000)).toEqual({ code: 1, signal: null });
    await local.line('postgres was ended by SIGKILL. Everything has been stopped.');
    expect(await listening(parts.postgres.url)).toBe(false);
  });

  it('keeps the port of its server and the key of its tenant from one start to the next', async () => {
    const folder = newFolder();
    const said: string[][] = [];
    for (let starts = 0; starts < 2; starts++) {
      const local = await start(folder);
      said.push([(await ready(local)).postgres.url, await keyIn(local)]);
      await local.stop(60_000);
    }
    expect(said[0]?.[1]).toMatch(/^hfk_/);
    expect(said[1]).toEqual(said[0]);
  });

  it('T1: the apps connect as a role that owns the tables and bypasses nothing, also on data that a superuser has made', async () => {
    const folder = newFolder();
    const before = await start(folder);
    const { postgres } = await ready(before);
    await withClient(postgres.url, (client) => client.query('REASSIGN OWNED BY hub TO CURRENT_USER'));
    await before.stop(60_000);

    const local = await start(folder);
    const parts = await ready(local);
    await postEvent(local, parts.api.url);
    const owners = await withClient(parts.postgres.url, (client) =>
      client.query<Record<string, unknown>>(
        `SELECT DISTINCT rolname AS name, rolsuper OR rolbypassrls AS bypasses FROM pg_class JOIN pg_roles r ON r.oid = relowner
         WHERE relnamespace IN ('public'::regnamespace, 'holdfast'::regnamespace)`,
      ),
    );
    expect(owners.rows).toEqual([{ bypasses: false, name: 'hub' }]);
    await local.stop(60_000);
  });

  it('T1: says what to run when the role of DATABASE_URL bypasses row level security, and starts nothing', async () => {
    const database = await createEmptyDatabase();
    const local = await start(newFolder(), { DATABASE_URL: database.url });
    expect(await local.exit()).toEqual({ code: 1, signal: null });
    await local.line(`CREATE ROLE hub LOGIN PASSWORD '…'; ALTER DATABASE ${database.name} OWNER TO hub;`);
    expect(local.lines.join('\n')).not.toContain('api:');
    expect(await database.adminQuery("SELECT FROM pg_namespace WHERE nspname = 'holdfast'")).toEqual([]);
    await database.drop();
  });

  it('names DATABASE_URL when it is none, before anything is started', async () => {
    const local = await start(newFolder(), { DATABASE_URL: 'foo' });
    expect(await local.exit()).toEqual({ code: 1, signal: null });
    await local.line('DATABASE_URL: expected postgres://');
  });

  it('names everything that the apps would refuse, before anything is started', async () => {
    const local = await start(newFolder(), { LOG_LEVEL: 'loud', OPERATOR_TOKEN: 'short', SLOTS: 'many' });
    expect(await local.exit()).toEqual({ code: 1, signal: null });
    const said = local.lines.join('\n');
    for (const name of ['LOG_LEVEL', 'OPERATOR_TOKEN', 'SLOTS']) expect(said).toContain(`${name}: expected`);
    expect(said).not.toContain('PostgreSQL:');
  });

  it('uses the server of DATABASE_URL where one is given, and leaves it alone', async () => {
    const database = await createEmptyDatabase();
    const { url } = await database.createRole({ owner: true });
    const local = await start(newFolder(), { DATABASE_URL: url });
    await local.line('Ctrl-C stops everything', 90_000);
    expect(local.lines.join('\n')).not.toContain('PostgreSQL:');
    await local.stop(60_000);
    expect(await database.adminQuery("SELECT to_regclass('holdfast.job') IS NOT NULL AS found")).toEqual([
      { found: true },
    ]);
    await database.drop();
  });

  it('names the variable when its port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const local = await start(newFolder(), { PORT: String(port) });
    expect(await local.exit()).toEqual({ code: 1, signal: null });
    await local.line(`PORT: port ${port} is taken`);
    expect(local.lines.join('\n')).not.toContain('PostgreSQL:');
    taken.close();
    await once(taken, 'close');
  });
});
