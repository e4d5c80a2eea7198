import { Database } from '@holdfast/kernel';
import { InvalidQueueOptionsError } from '../errors/invalid-queue-options.error.js';
import type { QueueOptions } from './queue.options.js';
import { resolveQueueOptions } from './queue.options.check.js';

/** It opens nothing: the options only look whether it could. */
class UnusedDatabase extends Database {
  readonly identity = this;
  readonly poolSize = 10;
  begin(): never {
    throw new Error('Nothing is opened here.');
  }
  connectionConfig(): object {
    return { host: 'here' };
  }
}

const database = new UnusedDatabase();

function problemsOf(options: object): readonly string[] {
  try {
    resolveQueueOptions(options as QueueOptions);
  } catch (error) {
    if (error instanceof InvalidQueueOptionsError) return error.problems;
    throw error;
  }
  return [];
}

describe('resolveQueueOptions', () => {
  it('K140: what getters of a class answer is checked like the rest, and read once', () => {
    const inherited = {
      get migrations() {
        return 'sometimes';
      },
    };
    expect(problemsOf(Object.assign(Object.create(inherited), { database }))).toEqual([
      'migrations must be one of check, up, off',
    ]);
    let reads = 0;
    const changing = {
      database,
      get schema() {
        return reads++ === 0 ? 'first' : 'Not "checked';
      },
    };
    expect(resolveQueueOptions(changing).schema.name).toBe('first');
  });

  it('gives every option its documented default, frozen', () => {
    const resolved = resolveQueueOptions({ database });
    expect(resolved).toMatchObject({
      autoStart: true,
      database,
      kinds: {},
      migrations: 'check',
      payloadLimitBytes: 262_144,
      preparedStatements: true,
      retention: { cancelled: 1_209_600_000, deadLetter: 1_209_600_000, failed: 1_209_600_000, succeeded: 86_400_000 },
      schema: { name: 'holdfast' },
      tenantSetting: undefined,
    });
    expect(Object.isFrozen(resolved) && Object.isFrozen(resolved.run) && Object.isFrozen(resolved.kinds)).toBe(true);
  });

  it('reports all mistakes together', () => {
    const problems = problemsOf({
      autoStart: 1,
      classifyError: 'x',
      databse: database,
      directUrl: 'http://secret@host/db',
      errorDetail: 'all',
      kinds: { Bad: {}, 'mail.send': { backoff: { delays: [] }, concurrency: 0 } },
      migrations: 'maybe',
      payloadLimitBytes: 0,
      preparedStatements: 'yes',
      reporter: {},
      retention: { done: '1d', succeeded: '1s' },
      run: { slots: 0, grace: '1s', graceMs: 5, poll: 'soon', only: ['a'], except: ['b'] },
      schema: 'pg_x',
      tenancy: { setting: 'tenant' },
      transactionHost: { tx: {} },
    });
    for (const part of [
      'autoStart',
      'classifyError',
      'databse is no option',
      'database is missing',
      'directUrl',
      'errorDetail',
      '"Bad" is no kind',
      'mail.send.backoff',
      'mail.send.concurrency',
      'migrations',
      'payloadLimitBytes',
      'preparedStatements',
      'reporter',
      'retention has mistakes: done is no final state',
      'slots',
      'run.grace and run.graceMs',
      'run.poll',
      'only and except',
      'schema',
      'tenancy',
      'transactionHost is none: wrap it',
    ]) {
      expect(problems.join('\n')).toContain(part);
    }
    expect(problems.join('\n')).not.toContain('secret');
  });

  it('T1, Q15: what belongs beside run is refused in it, where it would hold for the runner alone', () => {
    const run = { errorDetail: 'code', kinds: {}, slots: 2, tenancy: { setting: 'app.tenant' } };
    expect(problemsOf({ database, run })).toEqual([
      'run holds errorDetail, kinds, tenancy: to be said beside run, not in it',
    ]);
  });

  it('K55, Q15: names that are no option, at any depth, and kinds that are none are reported with all other mistakes', () => {
    const problems = problemsOf({
      database,
      kinds: { a: null, b: { tiemout: '1s' } },
      run: { leases: { attached: 1 }, only: 'abc', owner: '', slotz: 1 },
    });
    for (const part of ['slotz', 'leases.attached', 'only must be a list', 'owner', 'kinds.a', 'kinds.b.tiemout'])
      expect(problems.join('\n')).toContain(part);
    expect(problems).toHaveLength(6);
    // What is said beside run is not looked for in it.
    expect(problems.filter((problem) => problem.includes('kinds.'))).toEqual([
      'kinds.a must be an object',
      'kinds.b.tiemout is no option of a kind',
    ]);
  });

  it.each<[string, unknown]>([
    ['is a bare DataSource: wrap it, typeOrm(dataSource)', { createQueryRunner: () => undefined }],
    ['is bare: wrap the pool, pgPool(pool)', { connect: () => undefined }],
    ['is none: give typeOrm(dataSource) or pgPool(pool)', 'postgres://localhost/shop'],
  ])('a database that nobody has wrapped %s', (problem, given) => {
    expect(problemsOf({ database: given })).toEqual([`database ${problem}`]);
  });

  it('K140: says that a factory answered nothing, and never falls back to a default database', () => {
    expect(problemsOf(undefined as unknown as object)).toEqual(['there are none: the factory answered undefined']);
    expect(problemsOf({})).toEqual(['database is missing: give typeOrm(dataSource) or pgPool(pool)']);
  });

  it('reads durations with their unit, or as milliseconds', () => {
    expect(resolveQueueOptions({ database, run: { grace: '1m', poll: '500ms', slots: 3 } }).run).toEqual({
      graceMs: 60_000,
      pollMs: 500,
      slots: 3,
    });
    expect(resolveQueueOptions({ database, run: { graceMs: 1_000 } }).run).toEqual({ graceMs: 1_000 });
  });

  it('hands the runner what concerns it', () => {
    const classifyError = () => undefined;
    const { run } = resolveQueueOptions({
      database,
      classifyError,
      errorDetail: 'code',
      kinds: { a: { timeout: '1s' } },
      tenancy: { setting: 'app.tenant' },
    });
    expect(run).toEqual({
      classifyError,
      errorDetail: 'code',
      kinds: { a: { timeout: '1s' } },
      tenancy: { setting: 'app.tenant' },
    });
  });
});
