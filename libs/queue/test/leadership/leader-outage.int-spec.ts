import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SchemaName } from '@holdfast/kernel';
import { EmbeddedServer, freePort, reachable, serverUser, waitFor, within } from '@holdfast/testing';
import { Client } from 'pg';
import { AdvisoryLockLeadership } from '../../src/leadership/advisory-lock.leadership.js';
import type { Candidate } from '../../src/ports/leadership.js';
import { losses } from './stand.js';

const TICK = { tickMs: 2_000 };

/** A server of its own, because it is stopped. */
describe('a server that goes away under its leader', () => {
  let folder: string;
  let server: EmbeddedServer;
  const leaderships: AdvisoryLockLeadership[] = [];

  beforeAll(async () => {
    const place = [tmpdir(), '/var/tmp', '/tmp'].find((path) => reachable(path, serverUser())) ?? tmpdir();
    // By this name the next run ends what a killed one has left.
    folder = mkdtempSync(join(place, `holdfast-test-${process.pid}-`));
    chmodSync(folder, 0o755);
    const port = await freePort();
    server = new EmbeddedServer({
      dataFolder: join(folder, 'data'),
      password: 'leader',
      port,
      settings: { fsync: 'off' },
    });
    await server.start();
  });
  afterEach(async () => {
    await Promise.all(leaderships.splice(0).map((leadership) => leadership.close()));
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { force: true, recursive: true });
  });

  const on = (url = server.url) => {
    const leadership = new AdvisoryLockLeadership({ connectionString: url }, { schema: new SchemaName('holdfast') });
    leaderships.push(leadership);
    return leadership;
  };
  const locks = async () => {
    const client = new Client({ connectionString: server.url });
    await client.connect();
    const { rows } = await client.query("SELECT 1 FROM pg_locks WHERE locktype = 'advisory'");
    await client.end();
    return rows.length;
  };
  const leads = (candidate: Candidate) => candidate.acquire().catch(() => false);

  it('L1: after a restart of the server one of the candidates leads, of itself and within its ticks', async () => {
    const candidates = [on().candidate('reports', TICK), on().candidate('reports', TICK)];
    expect([await candidates[0]!.acquire(), await candidates[1]!.acquire()]).toEqual([true, false]);
    const reasons = losses(candidates[0]!);
    await server.stop();
    await waitFor(() => reasons.length === 1, { what: 'the leader to know' });
    expect(await Promise.all(candidates.map(leads))).toEqual([false, false]);
    await server.start();
    const back = () => Promise.all(candidates.map(leads)).then((all) => all.some(Boolean));
    await waitFor(back, { everyMs: TICK.tickMs / 4, what: 'one of them to lead' });
    expect(candidates.filter(({ isLeader }) => isLeader)).toHaveLength(1);
    expect(await locks()).toBe(1);
  });

  it('K120: with the server gone, giving up and closing are clean and quick; the next leader leads when it is back', async () => {
    const leadership = on();
    const candidate = leadership.candidate('reports', TICK);
    const other = leadership.candidate('prices', TICK);
    await Promise.all([candidate.acquire(), other.acquire()]);
    await server.stop();
    await within(candidate.release(), 5_000, 'the release');
    await expect(other.acquire()).rejects.toMatchObject({ code: 'kernel.connection_lost' });
    await within(leadership.close(), 5_000, 'the close');
    await server.start();
    expect(await on().candidate('reports', TICK).acquire()).toBe(true);
  });

  it('L1: no lock is taken on a standby, which has locks of its own', async () => {
    const candidate = on().candidate('reports', TICK);
    await server.stop();
    // What a primary may come back as after a failover.
    const signal = join(folder, 'data', 'standby.signal');
    writeFileSync(signal, '');
    const user = serverUser();
    if (user) chownSync(signal, user.uid, user.gid);
    await server.start();
    await expect(candidate.acquire()).rejects.toMatchObject({ cause: { message: 'The server is a standby.' } });
    expect(await locks()).toBe(0);
    await server.stop();
    rmSync(signal);
    await server.start();
    expect(await waitFor(() => leads(candidate), { everyMs: 500, what: 'the name to be taken' })).toBe(true);
  });
});
