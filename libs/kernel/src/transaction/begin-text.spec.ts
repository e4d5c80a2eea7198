import { InvalidTransactionOptionError } from '../errors/invalid-transaction-option.error.js';
import { beginText } from './begin-text.js';
import { boundSettings } from './session-bounds.js';

describe('the text of BEGIN', () => {
  it('names its isolation, and read only where asked', () => {
    expect(beginText({}, [])).toBe('BEGIN ISOLATION LEVEL READ COMMITTED');
    expect(beginText({ isolation: 'SERIALIZABLE', readOnly: true }, [])).toBe(
      'BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY',
    );
  });

  it('quotes the names and values of settings', () => {
    const settings = { 'app.te"nant': `it's`, search_path: 'a, b' };
    expect(beginText({ settings }, [['transaction_timeout', '5']])).toBe(
      `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL "transaction_timeout" = '5'; SET LOCAL "app"."te""nant" = 'it''s'; ` +
        `SELECT set_config('search_path', 'a, b', true)`,
    );
  });

  it('refuses U+0000, which would cut the text off, and an isolation that is none', () => {
    const refused: Record<string, string>[] = [{ 'a.b': 'x\0' }, { 'a.b\0': 'x' }, { ab: '\0' }, { 'a\0': 'x' }];
    for (const settings of refused) {
      expect(() => beginText({ settings }, [])).toThrow(TypeError);
    }
    expect(() => beginText({ isolation: 'READ COMMITTED; COMMIT' as 'SERIALIZABLE' }, [])).toThrow(
      InvalidTransactionOptionError,
    );
  });
});

describe('the bounds of a transaction (R1)', () => {
  const none = { idleInTransactionMs: 0, statementMs: 0 };

  it('are one setting where the server has transaction_timeout', () => {
    expect(boundSettings({ ...none, transactionMs: 0 }, 5_000.9)).toEqual([['transaction_timeout', '5000']]);
  });

  it('switch a looser bound off first: the server does not re-arm a running timer', () => {
    expect(boundSettings({ ...none, transactionMs: 60_000 }, 5_000)).toEqual([
      ['transaction_timeout', '0'],
      ['transaction_timeout', '5000'],
    ]);
  });

  it('leave a tighter one alone', () => {
    expect(boundSettings({ ...none, transactionMs: 4_000 }, 5_000)).toEqual([]);
    expect(boundSettings({ idleInTransactionMs: 4_000, statementMs: 5_000, transactionMs: undefined }, 5_000)).toEqual(
      [],
    );
  });

  it('are two settings where it has not, each on its own', () => {
    expect(boundSettings({ ...none, transactionMs: undefined }, 5_000)).toEqual([
      ['statement_timeout', '5000'],
      ['idle_in_transaction_session_timeout', '5000'],
    ]);
    expect(boundSettings({ idleInTransactionMs: 9_000, statementMs: 1_000, transactionMs: undefined }, 5_000)).toEqual([
      ['idle_in_transaction_session_timeout', '5000'],
    ]);
  });

  it('are never zero, which would mean none', () => {
    expect(boundSettings({ ...none, transactionMs: 0 }, 0.4)).toEqual([['transaction_timeout', '1']]);
  });
});
