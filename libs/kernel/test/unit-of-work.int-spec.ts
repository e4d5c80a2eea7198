import { createEmptyDatabase, waitFor, type TestDatabase } from '@holdfast/testing';
import type { Pool } from 'pg';
import { NestedScopeError } from '../src/errors/nested-scope.error.js';
import { sqlStateOf } from '../src/errors/sql-state.js';
import { TransactionAbortedError } from '../src/errors/transaction-aborted.error.js';
import { TransactionSettledError } from '../src/errors/transaction-settled.error.js';
import { ambientTransaction } from '../src/transaction/ambient-transaction.js';
import type { Database } from '../src/transaction/database.js';
import { pgPool } from '../src/transaction/pg.database.js';
import type { Transaction } from '../src/transaction/transaction.js';
import { UnitOfWork } from '../src/transaction/unit-of-work.js';
import { createNotes, KINDS, notes } from './databases.js';
import { rejection } from './rejection.js';

describe.each(Object.entries(KINDS))('a unit of work on %s', (_, openDatabase) => {
  let testDatabase: TestDatabase;
  let database: Database;
  let pool: Pool;
  let unitOfWork: UnitOfWork;

  beforeAll(async () => {
    testDatabase = await createEmptyDatabase();
    await createNotes(testDatabase);
    ({ database, pool } = await openDatabase(testDatabase));
    unitOfWork = new UnitOfWork(database, { tenantSetting: 'app.tenant_id' });
  });
  beforeEach(() => testDatabase.adminQuery('TRUNCATE note'));
  afterEach(() =>
    waitFor(() => pool.totalCount === pool.idleCount, { deadlineMs: 3_000, what: 'every client to be back' }),
  );
  afterAll(() => testDatabase.drop());

  const insert = (tx: Transaction, text: string) => tx.sql.query('INSERT INTO note (text) VALUES ($1)', [text]);
  const tenantOf = async (tx: Transaction) =>
    (await tx.sql.query<{ tenant: string }>(`SELECT current_setting('app.tenant_id', true) AS tenant`)).rows[0]?.tenant;

  it('commits what resolves, answers it, and calls what waits for the commit', async () => {
    const called: string[] = [];
    const answer = await unitOfWork.run(async (tx) => {
      tx.afterCommit(() => void called.push('first'));
      await insert(tx, 'a');
      tx.afterCommit(() => void called.push('second'));
      expect(called).toEqual([]);
      return 'answer';
    });
    expect(answer).toBe('answer');
    expect(called).toEqual(['first', 'second']);
    expect(await notes(testDatabase)).toEqual(['a']);
  });

  it('rolls back what rejects, with its own error, and calls nothing', async () => {
    const boom = new Error('boom');
    const called: string[] = [];
    const work = async (tx: Transaction) => {
      tx.afterCommit(() => void called.push('never'));
      await insert(tx, 'a');
      throw boom;
    };
    expect(await rejection(unitOfWork.run(work))).toBe(boom);
    expect(
      await rejection(
        unitOfWork.run(() => {
          throw boom;
        }),
      ),
    ).toBe(boom);
    expect(called).toEqual([]);
    expect(await notes(testDatabase)).toEqual([]);
  });

  it('R3: rejects when a failed statement was caught', async () => {
    const error = await rejection(
      unitOfWork.run(async (tx) => {
        await insert(tx, 'a');
        await rejection(tx.sql.query('SELECT * FROM nowhere'));
      }),
    );
    expect(error).toBeInstanceOf(TransactionAbortedError);
    expect(sqlStateOf(error)).toBe('42P01');
    expect(await notes(testDatabase)).toEqual([]);
  });

  it('Q1: is ambient inside, for its own database alone, and nested units join it', async () => {
    const other = pgPool(testDatabase.pool({ max: 1 }));
    const boom = new Error('boom');
    const error = await rejection(
      unitOfWork.run(async (outer) => {
        expect(ambientTransaction(database.identity)).toBe(outer);
        expect(ambientTransaction(other.identity)).toBeUndefined();
        await unitOfWork.run(async (inner) => {
          expect(inner).toBe(outer);
          await insert(inner, 'a');
        });
        await new UnitOfWork(other).run(async (tx) => {
          expect(tx).not.toBe(outer);
          await insert(tx, 'elsewhere');
        });
        throw boom;
      }),
    );
    expect(error).toBe(boom);
    expect(ambientTransaction(database.identity)).toBeUndefined();
    expect(await notes(testDatabase)).toEqual(['elsewhere']);
  });

  it('Q1: what it leaves behind cannot be joined after its end', async () => {
    let late!: () => Promise<unknown>;
    const gate = new Promise<void>((resolve) => {
      late = () => {
        resolve();
        return floating;
      };
    });
    let floating!: Promise<unknown>;
    await unitOfWork.run(async () => {
      floating = rejection(gate.then(() => unitOfWork.run((tx) => insert(tx, 'late'))));
      await Promise.resolve();
    });
    expect(await late()).toBeInstanceOf(TransactionSettledError);
    expect(await notes(testDatabase)).toEqual([]);
  });

  it('T2: has the scope of a tenant, or the system’s, and nothing of it stays in the session', async () => {
    for (const tenantId of ['a', null, 'b', undefined]) {
      const seen = await unitOfWork.run(async (tx) => [tx.tenantId, await tenantOf(tx)], { tenantId });
      expect(seen).toEqual([tenantId ?? null, tenantId ?? '']);
    }
  });

  it('T2: a nested unit inherits the tenant, and one of another tenant is refused', async () => {
    await unitOfWork.run(
      async () => {
        expect(await unitOfWork.run((tx) => tenantOf(tx))).toBe('a');
        expect(await unitOfWork.run((tx) => tenantOf(tx), { tenantId: 'a' })).toBe('a');
        for (const tenantId of ['b', null]) {
          expect(await rejection(unitOfWork.run((tx) => tenantOf(tx), { tenantId }))).toBeInstanceOf(NestedScopeError);
        }
      },
      { tenantId: 'a' },
    );
  });

  it('T2: readOnly refuses writes, and nested units of it too', async () => {
    expect(sqlStateOf(await rejection(unitOfWork.run((tx) => insert(tx, 'a'), { readOnly: true })))).toBe('25006');
    await unitOfWork.run(() => unitOfWork.run((tx) => tx.sql.query('SELECT 1'), { readOnly: true }), {
      readOnly: true,
    });
    const nested = unitOfWork.run(() => unitOfWork.run((tx) => tx.sql.query('SELECT 1'), { readOnly: true }));
    expect(await rejection(nested)).toBeInstanceOf(NestedScopeError);
  });

  it('runs in the isolation that was asked for, and refuses a stricter one inside', async () => {
    const level = async (tx: Transaction) =>
      (await tx.sql.query(`SELECT current_setting('transaction_isolation') AS level`)).rows;
    await unitOfWork.run(
      async (tx) => {
        expect(await level(tx)).toEqual([{ level: 'repeatable read' }]);
        await unitOfWork.run(level, { isolation: 'READ COMMITTED' });
        await unitOfWork.run(level, { isolation: 'REPEATABLE READ' });
        expect(await rejection(unitOfWork.run(level, { isolation: 'SERIALIZABLE' }))).toBeInstanceOf(NestedScopeError);
      },
      { isolation: 'REPEATABLE READ' },
    );
  });

  it('warns of an afterCommit callback that fails: the commit stands', async () => {
    const warned = new Promise((resolve) => {
      jest.spyOn(process, 'emitWarning').mockImplementation((text, options) => resolve([text, options]));
    });
    await unitOfWork.run(async (tx) => {
      tx.afterCommit(() => Promise.reject(new Error('too late')));
      await insert(tx, 'a');
    });
    expect(await warned).toEqual([expect.any(String), expect.objectContaining({ code: 'HOLDFAST_AFTER_COMMIT' })]);
    jest.restoreAllMocks();
    expect(await notes(testDatabase)).toEqual(['a']);
  });
});
