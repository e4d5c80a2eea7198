import { serverSettings, TEST_SETTINGS } from './test-server.js';

const before = process.env.TEST_POSTGRES_SETTINGS;
afterEach(() => {
  if (before === undefined) delete process.env.TEST_POSTGRES_SETTINGS;
  else process.env.TEST_POSTGRES_SETTINGS = before;
});

describe('the settings of a test server', () => {
  it('are those of all tests, and those of the environment', () => {
    process.env.TEST_POSTGRES_SETTINGS = '';
    expect(serverSettings()).toEqual(TEST_SETTINGS);
    process.env.TEST_POSTGRES_SETTINGS = 'default_transaction_isolation=repeatable read, fsync=on';
    expect(serverSettings()).toEqual({
      ...TEST_SETTINGS,
      default_transaction_isolation: 'repeatable read',
      fsync: 'on',
    });
  });

  it('are refused when they are no pairs', () => {
    process.env.TEST_POSTGRES_SETTINGS = 'fsync';
    expect(serverSettings).toThrow('TEST_POSTGRES_SETTINGS wants name=value pairs and has fsync.');
  });
});
