import { testbed, waitFor, type TestDatabase } from '@holdfast/testing';
import { createQueue } from '../../src/core.js';
import { pgPool } from '@holdfast/kernel';
import { defineJob } from '../../src/domain/definition.js';
import { done } from '../../src/domain/outcome.js';
import { type } from '../../src/domain/payload.schema.js';
import type { QueueEvent } from '../../src/ports/queue.events.js';
import { emptied, standDatabase, unhandledRejections } from '../runner.stand.js';

const Attached = defineJob('test.attached', { payload: type<{ n: number }>(), backoff: { delays: ['0ms'] } });
const Detached = defineJob('test.detached', {
  payload: type<{ n: number }>(),
  backoff: { delays: ['0ms'] },
  whenRunning: 'rerun',
});

describe('A role with settings of its own', () => {
  let db: TestDatabase;
  const unhandled = unhandledRejections();
  beforeAll(async () => (db = await standDatabase()));
  beforeEach(() => emptied(db));
  afterEach(() => expect(unhandled).toEqual([]));
  afterAll(() => db.drop());

  it.each([
    ['Q16: REPEATABLE READ', { default_transaction_isolation: 'repeatable read' }],
    ['Q16: SERIALIZABLE', { default_transaction_isolation: 'serializable' }],
    ['R1: a statement_timeout of a second', { statement_timeout: '1s', lock_timeout: '500ms' }],
    [
      'R1: bounds for idle sessions',
      {
        idle_in_transaction_session_timeout: '1s',
        idle_session_timeout: '300ms',
        ...(testbed().major < 17 ? {} : { transaction_timeout: '2s' }),
      },
    ],
    ['K127: an empty search_path', { search_path: '' }],
    [
      'K11: dates in another style and zone',
      { datestyle: 'German, DMY', intervalstyle: 'sql_standard', timezone: 'Asia/Kolkata' },
    ],
    ['K11: dates in SQL style', { datestyle: 'SQL, MDY', timezone: 'America/St_Johns' }],
    [
      'Q11: other spellings of values',
      {
        bytea_output: 'escape',
        extra_float_digits: '-15',
        standard_conforming_strings: 'off',
        backslash_quote: 'on',
        quote_all_identifiers: 'on',
      },
    ],
    ['Q11: a latin1 client', { client_encoding: 'LATIN1' }],
    ['Q16: deferrable', { default_transaction_isolation: 'serializable', default_transaction_deferrable: 'on' }],
  ] as [string, Record<string, string>][])(
    '%s: jobs are enqueued, run, fail and are run again',
    async (_, settings) => {
      const role = await db.createRole({ attributes: 'SUPERUSER' });
      for (const [name, value] of Object.entries(settings))
        await db.adminQuery(`ALTER ROLE "${role.name}" SET ${name} = '${value}'`);
      const pool = db.pool({ connectionString: role.url, max: 5 });
      const events: QueueEvent[] = [];
      const queue = createQueue({
        database: pgPool(pool),
        reporter: { report: (event) => void events.push(event) },
        run: { poll: '100ms', slots: 3 },
      });
      const seen: string[] = [];
      queue.handle(Attached, {
        run: async (job, ctx) => {
          await ctx.tx.sql.query('INSERT INTO public.effect VALUES ($1)', [`a${job.payload.n} é\\`]);
          if (job.attempt === 1) throw new Error('once');
          await queue.jobs.enqueue(Detached, { n: job.payload.n }, { dedupeKey: 'k' });
          seen.push(`${job.createdAt.getTime() > 1e12} ${job.dueAt.getTime() > 1e12}`);
        },
      });
      queue.handle(
        Detached,
        {
          run: async (job, ctx) =>
            ctx.finish(async (tx) => {
              await tx.sql.query('INSERT INTO public.effect VALUES ($1)', ['d']);
              return done({ outcome: `ok${job.payload.n}` });
            }),
        },
        { detached: true },
      );
      try {
        await queue.start();
        await queue.unitOfWork.run(async () => {
          await queue.jobs.enqueue(Attached, { n: 1 });
          await queue.jobs.enqueue(Attached, { n: 2 }, { dedupeKey: 'é\\\'"' });
        });
        await queue.jobs.enqueue(Attached, { n: 3 }, { in: 'own', runIn: '10ms' });
        await waitFor(
          () => db.adminQuery('SELECT FROM holdfast.job WHERE state = 2').then((rows) => rows.length >= 4),
          { deadlineMs: 6_000, what: 'the jobs to be done' },
        );
        await waitFor(
          () =>
            db
              .adminQuery('SELECT FROM holdfast.job WHERE state < 2 UNION ALL SELECT FROM holdfast.job_request')
              .then((rows) => rows.length === 0),
          { deadlineMs: 6_000, what: 'nothing to be left' },
        );
        const effects = await db.adminQuery<{ text: string }>(
          `SELECT text FROM effect WHERE text LIKE 'a%' ORDER BY 1`,
        );
        expect(effects.map(({ text }) => text)).toEqual(['a1 é\\', 'a2 é\\', 'a3 é\\']);
        expect(seen).toEqual(Array(3).fill('true true'));
      } finally {
        await queue.close();
      }
      expect(events.filter(({ type }) => type === 'loop.failed' || type === 'lease.renewal_failed')).toEqual([]);
    },
  );
});
