import 'reflect-metadata';
import { pgPool } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase, waitFor } from '@holdfast/testing';
import { Test, type TestingModule } from '@nestjs/testing';
import {
  createQueue,
  defineJob,
  InvalidPayloadError,
  InvalidQueueOptionsError,
  JobHandler,
  QueueModule,
  type QueueModuleOptions,
  type QueueOptions,
  repeat,
  SilentReporter,
  type,
} from '../../src/index.js';
import { emptied } from './probe.js';

const Sync = defineJob('ensure.sync', { payload: type<{ account: string }>(), maxAttempts: 'unlimited' });
const Rebuild = defineJob('ensure.rebuild', { payload: type<object>(), whenRunning: 'rerun' });
const key = (dedupeKey: string, options = {}) => Sync.request({ account: 'a' }, { dedupeKey, ...options });

/** A poller: each run asks for the next. */
@JobHandler(Sync)
class SyncHandler {
  static runs = 0;

  run(): Promise<ReturnType<typeof repeat>> {
    SyncHandler.runs += 1;
    return Promise.resolve(repeat('20ms'));
  }
}

interface Row {
  readonly attempt: number;
  readonly dedupe_key: string;
  readonly due_in_s: number;
  readonly id: string;
  readonly kind: string;
  readonly payload: object;
  readonly state: number;
  readonly tenant_id: string | null;
}

describe('The option ensure', () => {
  let db: TestDatabase;
  const apps: TestingModule[] = [];

  const start = async (options: Partial<QueueModuleOptions>, providers: (typeof SyncHandler)[] = []) => {
    const database = pgPool(db.pool({ max: 3 }));
    const queue = QueueModule.forRoot({ database, reporter: new SilentReporter(), roles: ['enqueue'], ...options });
    const app = await Test.createTestingModule({ imports: [queue], providers }).compile();
    app.useLogger(false);
    apps.push(app);
    return app.init();
  };
  const rows = () =>
    db.adminQuery<Row>(`SELECT id::text, kind, tenant_id, dedupe_key, state, attempt, payload,
      extract(epoch FROM due_at - clock_timestamp())::float8 AS due_in_s FROM holdfast.job ORDER BY job.id`);
  const requests = () => db.adminQuery('SELECT FROM holdfast.job_request');

  beforeAll(async () => (db = await createTestDatabase()));
  beforeEach(() => emptied(db));
  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close().catch(() => undefined);
  });
  afterAll(() => db.drop());

  it('seeds each job once, however many replicas start at once, with Nest and without it', async () => {
    const ensure = [key('one'), key('two', { runIn: '1h' }), Rebuild.request({}, { dedupeKey: 'one' })];
    const plain = Array.from({ length: 10 }, () => createQueue({ database: pgPool(db.pool({ max: 2 })), ensure }));
    await Promise.all([
      ...Array.from({ length: 10 }, () => start({ ensure })),
      ...plain.map((queue) => queue.prepare().finally(() => queue.close())),
    ]);
    expect(await rows()).toMatchObject([
      { dedupe_key: 'one', kind: 'ensure.sync', state: 0 },
      { dedupe_key: 'two', kind: 'ensure.sync', state: 0 },
      { dedupe_key: 'one', kind: 'ensure.rebuild', state: 0 },
    ]);
    expect(await requests()).toEqual([]);
  });

  it('more keys than an enqueue locks at once are seeded once too', async () => {
    const ensure = Array.from({ length: 40 }, (_, n) => key(`many-${n}`));
    await Promise.all([start({ ensure }), start({ ensure }), start({ ensure })]);
    // Those beyond the locks of one transaction wait for an intake.
    expect((await rows()).length + (await requests()).length).toBe(40);
    await start({ ensure });
    expect((await rows()).length + (await requests()).length).toBe(40);
  });

  it('leaves a live job as it is: its moment, its payload, and a run that is going on', async () => {
    await start({ ensure: [key('later', { runIn: '1h' }), Rebuild.request({}, { dedupeKey: 'busy' })] });
    await db.adminQuery(`UPDATE holdfast.job SET state = 1, attempt = 1, lease_token = gen_random_uuid(), lease_owner = 'other',
      lease_until = now() + interval '1h', claimed_at = now() WHERE kind = 'ensure.rebuild'`);
    const before = await rows();
    const changed = Sync.request({ account: 'other' }, { dedupeKey: 'later' });
    await start({ ensure: [changed, Rebuild.request({}, { dedupeKey: 'busy' })] });
    const after = await rows();
    expect(after).toMatchObject(before.map(({ attempt, id, payload, state }) => ({ attempt, id, payload, state })));
    expect(after[0]!.due_in_s).toBeGreaterThan(3_000);
    // Nor does a run that a definition with whenRunning: 'rerun' has under way get a second one.
    expect(await requests()).toEqual([]);
  });

  it.each([
    ['done', 2],
    ['refused', 3],
    ['a dead letter', 4],
    ['cancelled', 5],
  ])('a job that is %s has a successor at the next start', async (_, state) => {
    await start({ ensure: [key('one')] });
    await db.adminQuery('UPDATE holdfast.job SET state = $1, finished_at = now()', [state]);
    await start({ ensure: [key('one')] });
    await start({ ensure: [key('one')] });
    expect(await rows()).toMatchObject([{ state }, { state: 0 }]);
  });

  it('T1: each tenant has its own, and so has the system', async () => {
    const tenancy = { setting: 'app.tenant_id' };
    const ensure = [key('k'), key('k', { tenantId: 'a' }), key('k', { tenantId: 'b' })];
    await start({ ensure, tenancy });
    await start({ ensure, tenancy });
    expect((await rows()).map(({ tenant_id: tenant }) => tenant)).toEqual([null, 'a', 'b']);
  });

  it("maxAttempts 'unlimited' and repeat make a poller: one row, run again and again", async () => {
    SyncHandler.runs = 0;
    const options = { ensure: [key('poller')], roles: ['run'] as const, run: { slots: 1 } };
    const [first] = await Promise.all([start(options, [SyncHandler]), start(options, [SyncHandler])]);
    await waitFor(() => SyncHandler.runs >= 5, { what: 'the poller to have run five times' });
    await first.close();
    const until = SyncHandler.runs + 3;
    await waitFor(() => SyncHandler.runs >= until, { what: 'the other replica to go on' });
    expect(await rows()).toHaveLength(1);
  });

  it('a start that fails has seeded nothing, and says which request could not be stored', async () => {
    const events: string[] = [];
    const reporter = { report: ({ type: name }: { type: string }) => void events.push(name) };
    const refused = start({
      ensure: [Sync.request({ account: 1 } as never, { dedupeKey: 'x' })],
      reporter,
      schema: 'none',
    });
    await expect(refused).rejects.toMatchObject({ code: 'migrate.pending' });
    const Strict = defineJob('ensure.strict', { payload: type<{ when: string }>() });
    const wrong = Strict.request({ when: new Date() } as never, { dedupeKey: 'x' });
    const failed: unknown = await start({ ensure: [key('one'), wrong], roles: ['run'], run: { slots: 1 } }, [
      SyncHandler,
    ]).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(InvalidPayloadError);
    expect((failed as Error).message).toContain('Request 1');
    expect(await rows()).toEqual([]);
  });

  it('refuses, with all other mistakes, what could not be kept single or would do nothing', () => {
    const problems = (ensure: unknown, options: Partial<QueueOptions> = {}): readonly string[] => {
      try {
        createQueue({ database: pgPool(db.pool()), ensure: ensure as QueueOptions['ensure'], ...options });
      } catch (error) {
        return (error as InvalidQueueOptionsError).problems;
      }
      return [];
    };
    expect(problems({})).toEqual(['ensure must be a list of definition.request(payload, { dedupeKey })']);
    expect(
      problems([
        Sync,
        undefined,
        Sync.request({ account: 'a' }),
        key('k'),
        key('k'),
        key('k', { tenantId: 'a' }),
        key('other', { onDuplicate: { payload: 'replace' } }),
      ]),
    ).toEqual([
      'ensure[0] is no request: write definition.request(payload, { dedupeKey })',
      'ensure[1] is no request: write definition.request(payload, { dedupeKey })',
      'ensure[2] (ensure.sync) has no dedupeKey: every start would add one more',
      'ensure[4] (ensure.sync) has the key of ensure[3]',
      'ensure[5] (ensure.sync) names a tenant while tenancy is off',
      'ensure[6] (ensure.sync) has onDuplicate, but a live job stays as it is',
    ]);
    expect(problems([key('k', { tenantId: 'a' })], { tenancy: { setting: 'app.tenant_id' } })).toEqual([]);
  });
});
