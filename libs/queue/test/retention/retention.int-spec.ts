import { randomUUID } from 'node:crypto';
import { ControlConnections } from '@holdfast/kernel';
import { DEFAULT_RETENTION } from '../../src/domain/retention.js';
import { PostgresRunnerRoster } from '../../src/postgres/postgres.runner-roster.js';
import { RETENTION } from '../../src/scheduler/scheduler.js';
import { SchedulerStand, type TestScheduler } from '../scheduler/scheduler.stand.js';
import { SCHEMA } from '../store.harness.js';
import { finish, left } from './finished.jobs.js';

const at = (table: string) => SCHEMA.of(table);

describe('retention', () => {
  let stand: SchedulerStand;
  let roster: PostgresRunnerRoster;
  let connections: ControlConnections;

  beforeAll(async () => {
    stand = await SchedulerStand.open({ leadership: 'always', tickMs: 1_000 });
    const config = { connectionString: stand.db.url };
    connections = new ControlConnections(config, { applicationName: 'roster', deadlineMs: 10_000, max: 1 });
    roster = new PostgresRunnerRoster(connections, SCHEMA);
  });
  afterEach(() => stand.end());
  afterAll(async () => {
    await connections.close();
    await stand.close();
  });

  /** swept runs retention once in a scheduler of its own and answers what it told of it. */
  const swept = async (options: Parameters<SchedulerStand['scheduler']>[0] = {}) => {
    const test = stand.scheduler(options);
    await test.scheduler.runNow(RETENTION);
    await test.scheduler.start();
    await test.seen('duty.done', ({ name }) => name === RETENTION);
    await test.close();
    return told(test);
  };
  const told = (test: TestScheduler) =>
    test
      .all('retention.swept')
      .map(({ kind, more, removed, state }) => `${kind} ${state} ${removed}${more ? '+' : ''}`);

  it('S5: jobs that succeeded go after a day, the others after 14, and none that is not final', async () => {
    for (const [age, state] of [
      ['23 hours', 'SUCCEEDED'],
      ['25 hours', 'SUCCEEDED'],
      ['13 days', 'FAILED'],
      ['15 days', 'FAILED'],
      ['13 days', 'DEAD_LETTER'],
      ['15 days', 'DEAD_LETTER'],
      ['13 days', 'CANCELLED'],
      ['15 days', 'CANCELLED'],
    ] as const)
      await finish(stand.db, { age, count: 3, kind: 'mail.send', state });
    await stand.db.adminQuery(
      `INSERT INTO ${at('job')} (kind, payload, created_at, due_at) VALUES ('mail.send', '{}', now() - interval '1 year', now() - interval '1 year')`,
    );
    await stand.db.adminQuery(
      `INSERT INTO ${at('job')} (kind, payload, state, attempt, due_at, claimed_at, lease_owner, lease_token, lease_until)
         VALUES ('mail.send', '{}', 1, 1, now() - interval '1 year', now() - interval '1 year', 'w', $1, now() - interval '1 year')`,
      [randomUUID()],
    );
    expect(await swept()).toEqual(
      ['mail.send CANCELLED 3', 'mail.send DEAD_LETTER 3', 'mail.send FAILED 3', 'mail.send SUCCEEDED 3'].sort(byState),
    );
    expect(await left(stand.db)).toEqual({
      'mail.send CANCELLED': 3,
      'mail.send DEAD_LETTER': 3,
      'mail.send FAILED': 3,
      'mail.send PENDING': 1,
      'mail.send RUNNING': 1,
      'mail.send SUCCEEDED': 3,
    });
  });

  it('S5: the option of the module holds for every kind; forever keeps', async () => {
    await finish(stand.db, { age: '2 minutes', kind: 'a.job' });
    await finish(stand.db, { age: '10 years', kind: 'a.job', state: 'DEAD_LETTER' });
    const retention = { ...DEFAULT_RETENTION, deadLetter: 'forever', succeeded: 60_000 } as const;
    expect(await swept({ retention })).toEqual(['a.job SUCCEEDED 1']);
    expect(await left(stand.db)).toEqual({ 'a.job DEAD_LETTER': 1 });
  });

  it('S5: what a definition says reaches a leader that does not have it, also when its runner is gone; the latest to start counts', async () => {
    await roster.declare([
      { keep: { deadLetter: 'forever', succeeded: 3_600_000 }, kind: 'short.job' },
      { keep: {}, kind: 'plain.job' },
    ]);
    for (const kind of ['plain.job', 'short.job']) {
      await finish(stand.db, { age: '2 hours', kind });
      await finish(stand.db, { age: '1 year', kind, state: 'DEAD_LETTER' });
    }
    expect(await swept()).toEqual(['plain.job DEAD_LETTER 1', 'short.job SUCCEEDED 1']);
    expect(await left(stand.db)).toEqual({ 'plain.job SUCCEEDED': 1, 'short.job DEAD_LETTER': 1 });

    await roster.declare([{ keep: { succeeded: 3_600_000 }, kind: 'short.job' }]);
    expect(await swept()).toEqual(['short.job DEAD_LETTER 1']);
  });

  it('S5: runners that start at once write down what they say without a deadlock', async () => {
    const many = new ControlConnections(
      { connectionString: stand.db.url },
      { applicationName: 'r', deadlineMs: 20_000, max: 8 },
    );
    const other = new PostgresRunnerRoster(many, SCHEMA);
    const kinds = ['a.job', 'b.job', 'c.job'];
    const rounds = Array.from({ length: 80 }, (_, i) => {
      const turned = i % 2 === 0 ? kinds : [...kinds].reverse();
      return other.declare(
        turned.map((kind, n) => ({ keep: (i + n) % 3 === 0 ? {} : { failed: 60_000 * (i + 1) }, kind })),
      );
    });
    await Promise.all(rounds);
    await many.close();
  });

  it('S5: requests and whatever runs have left go with their job', async () => {
    const [old, young] = [
      ...(await finish(stand.db, { age: '2 days', kind: 'a.job' })),
      ...(await finish(stand.db, { age: '2 hours', kind: 'a.job' })),
    ];
    const tables = ['job_alias', 'job_renewal', 'job_hold', 'job_progress'];
    await stand.db.adminQuery(
      // A request that joined one which joined the job: a chain.
      `INSERT INTO ${at('job_alias')} VALUES (900001, ${old}), (900002, 900001), (900003, 900002), (900004, ${young})`,
    );
    await stand.db.adminQuery(`INSERT INTO ${at('job_renewal')} VALUES (${old}, $1, now()), (${young}, $1, now())`, [
      randomUUID(),
    ]);
    await stand.db.adminQuery(`INSERT INTO ${at('job_hold')} VALUES (${old}, $1), (800000, $1)`, [randomUUID()]);
    await stand.db.adminQuery(`INSERT INTO ${at('job_progress')} VALUES (${old}, now(), 1)`);
    await swept();
    const rows = await Promise.all(tables.map((table) => stand.db.adminQuery(`SELECT * FROM ${at(table)}`)));
    // The job that stays keeps its alias; what runs that are over have left is gone with or without a job.
    expect(rows).toEqual([[{ job_id: young, request_id: '900004' }], [], [], []]);
  });

  it('S5: the narrow rows of a run that goes on stay', async () => {
    const token = randomUUID();
    const [{ id }] = (await stand.db.adminQuery<{ id: string }>(
      `INSERT INTO ${at('job')} (kind, payload, state, attempt, claimed_at, lease_owner, lease_token, lease_until)
         VALUES ('a.job', '{}', 1, 1, now(), 'w', $1, now()) RETURNING id::text`,
      [token],
    )) as [{ id: string }];
    await stand.db.adminQuery(`INSERT INTO ${at('job_renewal')} VALUES (${id}, $1, now())`, [token]);
    await stand.db.adminQuery(`INSERT INTO ${at('job_hold')} VALUES (${id}, $1)`, [token]);
    await swept();
    expect(await stand.db.adminQuery(`SELECT FROM ${at('job_renewal')}`)).toHaveLength(1);
    expect(await stand.db.adminQuery(`SELECT FROM ${at('job_hold')}`)).toHaveLength(1);
  });

  it('S5: a row that is locked is passed by and goes another time; one that is requeued meanwhile stays', async () => {
    const [locked] = await finish(stand.db, { age: '20 days', count: 700, kind: 'a.job', state: 'DEAD_LETTER' });
    const client = await stand.db.client();
    await client.query('BEGIN');
    await client.query(`SELECT FROM ${at('job')} WHERE id = ${locked} FOR UPDATE`);
    expect(await swept()).toEqual(['a.job DEAD_LETTER 699']);
    await client.query(`UPDATE ${at('job')} SET state = 0, finished_at = NULL WHERE id = ${locked}`);
    await client.query('COMMIT');
    expect(await swept()).toEqual([]);
    expect(await left(stand.db)).toEqual({ 'a.job PENDING': 1 });
  });

  it('S5: its last run is there for all to see, and it can be asked for', async () => {
    const test = stand.scheduler();
    await test.scheduler.start();
    await test.seen('duty.done', ({ name }) => name === RETENTION);
    await finish(stand.db, { age: '2 days', kind: 'a.job' });
    await test.scheduler.runNow(RETENTION);
    await test.seen('retention.swept');
    await test.seen('duty.done', ({ name }) => name === RETENTION, 2);
    expect(await test.scheduler.lastRuns()).toContainEqual(expect.objectContaining({ name: RETENTION, state: 'done' }));
  });
});

const STATES = ['SUCCEEDED', 'FAILED', 'DEAD_LETTER', 'CANCELLED'];

function byState(a: string, b: string): number {
  return STATES.indexOf(a.split(' ')[1]!) - STATES.indexOf(b.split(' ')[1]!);
}
