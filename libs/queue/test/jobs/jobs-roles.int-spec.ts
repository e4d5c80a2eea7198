import { ControlConnections } from '@holdfast/kernel';
import { grantsFor, operatorGrantsFor } from '@holdfast/migrations';
import { PostgresJobs } from '../../src/postgres/postgres.jobs.js';
import { SCHEMA } from '../store.harness.js';
import { JobsStand, keyed } from './jobs.stand.js';

const DENIED = { code: '42501' };

describe('Operators as roles of few rights', () => {
  let stand: JobsStand;
  const closing: ControlConnections[] = [];

  beforeEach(async () => {
    stand = await JobsStand.open();
    await stand.database.adminQuery('REVOKE ALL ON SCHEMA public FROM PUBLIC');
  });
  afterEach(async () => {
    for (const connections of closing.splice(0)) await connections.close();
    await stand.close();
  });

  const as = async (grants: (schema: string, role: string) => string[]) => {
    const role = await stand.database.createRole();
    for (const statement of grants(SCHEMA.name, role.name)) await stand.database.adminQuery(statement);
    const connections = new ControlConnections(
      { connectionString: role.url },
      { applicationName: 'role', deadlineMs: 20_000, max: 2 },
    );
    closing.push(connections);
    const jobs = new PostgresJobs(connections, SCHEMA, { redactPayload: (_job, payload) => payload });
    return { client: await stand.database.client({ connectionString: role.url }), jobs };
  };
  const everyVerb = async (jobs: PostgresJobs) => {
    await stand.store().enqueueNow([keyed('k', { dueInMs: 60_000 })]);
    const dead = await stand.seed({ dedupeKey: 'd', state: 'DEAD_LETTER' });
    const failed = await stand.seed({ state: 'FAILED' });
    const [pending] = (await jobs.list({ state: 'PENDING' })).jobs;
    expect(await jobs.runNow(pending!.id)).toBe(pending!.id);
    expect(await jobs.requeue(dead)).toBe(dead);
    expect((await jobs.find(dead))!.state).toBe('PENDING');
    expect((await jobs.requeueMatching({ state: 'FAILED' })).requeued).toEqual([failed]);
    expect(await jobs.delete(failed)).toBe(failed);
    await stand.seed({ finishedAgoS: 60, state: 'SUCCEEDED' });
    expect(await jobs.purge({ olderThan: '1s', state: 'SUCCEEDED' })).toMatchObject({ deleted: 1 });
    expect((await jobs.list()).jobs).toHaveLength(2);
    expect(await jobs.pauseKind('demo.job')).toBe(true);
    expect(await jobs.pausedKinds()).toHaveLength(1);
    expect(await jobs.resumeKind('demo.job')).toBe(true);
    return dead;
  };

  it("C2, A1: an operator's role does all that Jobs does, but reads no payload unless it may", async () => {
    const { jobs } = await as(operatorGrantsFor);
    const id = await everyVerb(jobs);
    await expect(jobs.payload(id)).rejects.toMatchObject(DENIED);
    const { jobs: trusted } = await as((schema, role) => operatorGrantsFor(schema, role, { payloads: true }));
    expect((await trusted.payload(id)).payload).toMatchObject({ n: 1 });
  });

  it('C2, A1: so does an application', async () => {
    const { jobs } = await as(grantsFor);
    const id = await everyVerb(jobs);
    expect((await jobs.payload(id)).payload).toMatchObject({ n: 1 });
  });

  it.each([
    `SELECT payload FROM holdfast.job`,
    `SELECT * FROM holdfast.job`,
    `SELECT lease_token FROM holdfast.job`,
    `SELECT payload FROM holdfast.job_request`,
    `INSERT INTO holdfast.job (kind, payload) VALUES ('demo.job', '{}')`,
    `UPDATE holdfast.job SET state = 2`,
    `DELETE FROM holdfast.job`,
    `DELETE FROM holdfast.job_alias`,
    `INSERT INTO holdfast.paused_kind VALUES ('demo.job', 'infinity')`,
    `SELECT * FROM holdfast.enqueue('demo.job', '{}'::json)`,
    `SELECT * FROM holdfast.intake_requests(1)`,
    `TRUNCATE holdfast.paused_kind`,
  ])("C2: an operator's role may not: %s", async (text) => {
    const { client } = await as(operatorGrantsFor);
    await expect(client.query(text)).rejects.toMatchObject(DENIED);
  });
});
