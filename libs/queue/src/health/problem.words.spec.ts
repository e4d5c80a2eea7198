import { ConnectionLostError, PoolExhaustedError, StatementDeadlineError } from '@holdfast/kernel';
import { problemIn } from './problem.words.js';

const coded = (code: string, message = 'secret-host secret-user') =>
  Object.assign(new Error(message), { code, severity: 'FATAL' });

describe('problemIn', () => {
  it.each<[unknown, string]>([
    [coded('25006'), 'the database only reads, as after a failover (25006)'],
    [coded('28P01', 'password authentication failed for user "secret-user"'), 'the database refuses the login (28P01)'],
    [coded('53300'), 'the database takes no more connections (53300)'],
    [coded('57014'), 'the database ended or cancelled what was running (57014)'],
    [coded('42P01'), 'the database lacks a table: migrations have not been applied (42P01)'],
    [coded('XX000'), 'the database answered with an error (XX000)'],
    [
      new ConnectionLostError(
        'connect',
        Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:5432'), { code: 'ECONNREFUSED' }),
      ),
      'the database cannot be reached (ECONNREFUSED)',
    ],
    [
      new ConnectionLostError('connect', Object.assign(new Error('getaddrinfo secret-host'), { code: 'ENOTFOUND' })),
      'the database cannot be reached (ENOTFOUND)',
    ],
    [
      new ConnectionLostError('connect', new StatementDeadlineError('connect', 800)),
      'the database did not answer in time',
    ],
    [new PoolExhaustedError(1, 800, 0), 'the database did not answer in time'],
    [
      new ConnectionLostError('claim-jobs', new Error('Connection terminated')),
      'it failed with kernel.connection_lost',
    ],
    [new Error('secret-user'), 'it failed; the log says how'],
    ['secret-user', 'it failed; the log says how'],
    [undefined, 'it failed; the log says how'],
  ])('H1: says %p in words that give nothing away', (error, words) => {
    expect(problemIn(error)).toBe(words);
  });
});
