import { isEventPattern, patternsOf } from './event.pattern.js';

describe('the patterns of event types', () => {
  it.each([
    ['push', ['*', 'push']],
    ['issues.opened', ['*', 'issues.*', 'issues.opened']],
    ['a.b.c', ['*', 'a.*', 'a.b.*', 'a.b.c']],
  ])('%s matches %j and no other', (type, patterns) => {
    expect(patternsOf(type)).toEqual(patterns);
    expect(patterns.every(isEventPattern)).toBe(true);
  });

  it.each(['', '.', '.*', '**', 'issues*', 'issues.', '*.opened', 'issues.*.x', 'issues.**', 'Issues', 'issues.*\n'])(
    '%j is no pattern',
    (text) => {
      expect(isEventPattern(text)).toBe(false);
    },
  );
});
