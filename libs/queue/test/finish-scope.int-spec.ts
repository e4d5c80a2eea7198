import type { TestDatabase } from '@holdfast/testing';
import { defineJob } from '../src/domain/definition.js';
import { repeat } from '../src/domain/outcome.js';
import { type } from '../src/domain/payload.schema.js';
import { emptied, RunnerStand, standDatabase } from './runner.stand.js';

const Call = defineJob('test.call', { payload: type<object>() });
const Next = defineJob('test.next', { payload: type<object>() });

describe('The transaction of ctx.finish', () => {
  let db: TestDatabase;

  beforeAll(async () => (db = await standDatabase()));
  beforeEach(() => emptied(db));
  afterAll(() => db.drop());

  describe.each(['pg', 'typeorm'] as const)('on %s', (using) => {
    let stand: RunnerStand;

    beforeEach(async () => (stand = await RunnerStand.open(db, { using })));
    afterEach(async () => {
      await stand.untilIdle();
      await stand.close();
    });

    it.each([
      ['blue', 'blue'],
      [undefined, ''],
    ])(
      'R22, T1: runs under the tenant of its job (%p), and so do the jobs that it enqueues',
      async (tenantId, scope) => {
        const seen: unknown[] = [];
        stand.detached(Call, (_job, ctx) =>
          ctx.finish(async (tx) => {
            const { rows } = await tx.sql.query(`SELECT current_setting('app.tenant') AS scope`);
            seen.push(rows[0], tx.tenantId);
            await stand.jobs.enqueue(Next, {}, { runIn: '1h' });
          }),
        );
        const runner = await stand.start({ tenancy: { setting: 'app.tenant' } });
        const id = await stand.enqueue(Call, {}, tenantId ? { tenantId } : {});
        runner.wake();
        await stand.seenOf('job.completed', id);
        expect(seen).toEqual([{ scope }, tenantId ?? null]);
        const next = await db.adminQuery('SELECT tenant_id FROM holdfast.job WHERE kind = $1', [Next.kind]);
        expect(next).toEqual([{ tenant_id: tenantId ?? null }]);
        const after = await stand.pool.query(`SELECT current_setting('app.tenant', true) AS scope`);
        expect([null, '']).toContain((after.rows as { scope: string | null }[])[0]!.scope);
      },
    );

    it('R11, R22: repeat in a finish sends the row back together with its writes', async () => {
      stand.detached(Call, (_job, ctx) =>
        ctx.finish(async (tx) => {
          await tx.sql.query(`INSERT INTO effect VALUES ('pass')`);
          return repeat('1h', { outcome: 'test.passed' });
        }),
      );
      const runner = await stand.start();
      const id = await stand.enqueue(Call, {});
      runner.wake();
      expect(await stand.seenOf('job.completed', id)).toMatchObject({ outcome: 'test.passed', verb: 'repeat' });
      expect(await stand.job(id)).toMatchObject({ attempt: 0, lease_token: null, state: 'PENDING' });
      expect((await stand.job(id)).due_in_ms).toBeGreaterThan(3_500_000);
      expect(await stand.effects()).toEqual(['pass']);
    });

    it('R22: a backend killed inside a finish leaves nothing of it, and the job waits with its attempt', async () => {
      stand.detached(Call, (_job, ctx) =>
        ctx.finish(async (tx) => {
          await tx.sql.query(`INSERT INTO effect VALUES ('undone')`);
          await db.terminateBackends(`state = 'idle in transaction'`);
          await tx.sql.query('SELECT 1');
        }),
      );
      const runner = await stand.start();
      const id = await stand.enqueue(Call, {});
      runner.wake();
      expect(await stand.seenOf('job.deferred', id)).toMatchObject({ verb: 'lose' });
      expect(await stand.effects()).toEqual([]);
      expect(await stand.job(id)).toMatchObject({ attempt: 0, losses: 1, state: 'PENDING' });
    });
  });
});
