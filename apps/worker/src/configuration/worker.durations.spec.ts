import { WorkerConfiguration } from './worker.configuration.js';

const DATABASE_URL = 'postgres://holdfast@127.0.0.1:5432/hub';
const DAY_MS = 86_400_000;

describe.each([
  ['GRACE', 'graceMs'],
  ['LEASE', 'leaseMs'],
  ['POLL', 'pollMs'],
] as const)('K55: %s of the worker', (variable, field) => {
  it.each([
    ['30d', 30 * DAY_MS],
    ['365d', 365 * DAY_MS],
    ['2500.5ms', 2_501],
  ])('takes %s', (value, ms) => {
    expect(WorkerConfiguration.read({ DATABASE_URL, [variable]: value })[field]).toBe(ms);
  });

  it.each(['0s', '0', '-1s', 'NaN', 'Infinity', '1e9s', '30', 'soon', '9999d'])('refuses %s by its name', (value) => {
    expect(() => WorkerConfiguration.read({ DATABASE_URL, [variable]: value })).toThrow(`${variable}: `);
  });
});
