import { DatabaseError } from 'pg';
import { QueryFailedError } from 'typeorm';
import { failureClassOf, PermanentError, UnavailableError } from './classified.errors.js';
import { ConnectionLostError } from './connection-lost.error.js';
import { errorChain } from './error-chain.js';
import { isConnectionLost, isSerializationFailure, sqlStateOf } from './sql-state.js';
import { StatementDeadlineError } from './statement-deadline.error.js';

function databaseError(code: string): DatabaseError {
  return Object.assign(new DatabaseError('what the server said', 0, 'error'), { code, severity: 'ERROR' });
}

const socketError = (code: string) =>
  Object.assign(new Error(`connect ${code}`), { code, errno: -1, syscall: 'connect' });

function throwing(): object {
  const refuse = () => {
    throw new Error('a trap');
  };
  return new Proxy({}, { get: refuse, getPrototypeOf: refuse, has: refuse, ownKeys: refuse });
}

function cycle(): Error {
  const error = new Error('one');
  error.cause = new Error('two', { cause: error });
  return error;
}

/** K36: what handlers really throw. */
const HOSTILE: [name: string, value: unknown][] = [
  ['undefined', undefined],
  ['null', null],
  ['0', 0],
  ['a string', 'boom'],
  ['a symbol', Symbol('boom')],
  ['a bigint', 10n],
  ['a function', () => 'boom'],
  ['a frozen object', Object.freeze({ code: 7 })],
  ['an object without a prototype', Object.create(null)],
  [
    'an object with a throwing getter',
    {
      get cause() {
        throw new Error('no');
      },
      get code() {
        throw new Error('no');
      },
    },
  ],
  ['a proxy that throws at everything', throwing()],
  ['an error whose cause is such a proxy', new Error('outer', { cause: throwing() })],
  ['a revoked proxy', revoked()],
  ['a cycle of causes', cycle()],
  ['an AggregateError', new AggregateError([new Error('a'), undefined, 'b'])],
  ['an error of 5 MB', new Error('x'.repeat(5_000_000))],
  ['a chain of 1 000', chain(1_000)],
  ['an array', [1, 2, 3]],
];

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function chain(length: number): Error {
  let error = new Error('innermost');
  for (let i = 0; i < length; i++) error = new Error('outer', { cause: error });
  return error;
}

describe('classifying errors', () => {
  it.each(HOSTILE)('K36: takes %s for nothing that it knows, and never throws', (_, value) => {
    expect(sqlStateOf(value)).toBeUndefined();
    expect(isConnectionLost(value)).toBe(false);
    expect(isSerializationFailure(value)).toBe(false);
    expect(failureClassOf(value)).toBeUndefined();
    expect(errorChain(value).length).toBeLessThanOrEqual(20);
  });

  it('finds the SQLSTATE through any wrapping', () => {
    const inner = databaseError('23505');
    const wrapped = new QueryFailedError('SELECT 1', [], inner);
    for (const error of [
      inner,
      wrapped,
      new Error('outer', { cause: wrapped }),
      new AggregateError([new Error('a'), wrapped]),
    ]) {
      expect(sqlStateOf(error)).toBe('23505');
    }
    expect(sqlStateOf(databaseError('P0001'))).toBe('P0001');
    expect(sqlStateOf(databaseError('HF001'))).toBe('HF001');
  });

  it.each(['EPIPE', 'EBUSY', 'EPERM', 'ENOENT', 'ERROR', 'abcde', '1234', 40001])(
    'takes the code %p for no SQLSTATE',
    (code) => {
      expect(sqlStateOf(Object.assign(new Error('x'), { code }))).toBeUndefined();
    },
  );

  it.each(['40001', '40P01'])('R9: %s is a serialization failure', (code) => {
    expect(isSerializationFailure(new QueryFailedError('', [], databaseError(code)))).toBe(true);
    expect(isConnectionLost(databaseError(code))).toBe(false);
  });

  it.each(['08000', '08003', '08006', '57P01', '57P02', '57P03', '57P05', '25006', '25P03', '25P04'])(
    'K33, K116: %s is a lost connection',
    (code) => {
      expect(isConnectionLost(new Error('outer', { cause: databaseError(code) }))).toBe(true);
    },
  );

  it.each(['08P01', '57014', '25P02', '23505', '42P01', '53300', 'P0001'])('%s is no lost connection', (code) => {
    expect(isConnectionLost(databaseError(code))).toBe(false);
  });

  it.each(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EHOSTUNREACH', 'EAI_AGAIN'])(
    'K116: %s is a lost connection',
    (code) => {
      expect(isConnectionLost(socketError(code))).toBe(true);
      expect(
        isConnectionLost(Object.assign(new AggregateError([socketError(code), socketError(code)]), { code })),
      ).toBe(true);
      expect(sqlStateOf(socketError(code))).toBeUndefined();
    },
  );

  it.each([
    'Connection terminated',
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'Client has encountered a connection error and is not queryable',
    'Client was closed and is not queryable',
  ])('K116: what pg says without a code is a lost connection: %s', (message) => {
    expect(isConnectionLost(new Error(message))).toBe(true);
  });

  it('takes its own errors for what they are, also from a second copy of this package', () => {
    expect(isConnectionLost(new ConnectionLostError('connect', databaseError('53300')))).toBe(true);
    expect(isConnectionLost(new ConnectionLostError('connect', new Error('no answer')))).toBe(true);
    expect(isConnectionLost(new StatementDeadlineError('claim-jobs', 100))).toBe(true);
    expect(failureClassOf(new ConnectionLostError('connect', undefined))).toBe('unavailable');
    expect(failureClassOf({ [Symbol.for('holdfast.failure-class')]: 'permanent' })).toBe('permanent');
    expect(failureClassOf(new PermanentError('a.b'))).toBe('permanent');
    expect(failureClassOf(new UnavailableError('a.b'))).toBe('unavailable');
  });

  it('refuses a code that is none', () => {
    expect(() => new PermanentError('Not a code')).toThrow(TypeError);
  });
});
