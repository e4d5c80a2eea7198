import { SchemaName } from '../sql/schema-name.js';
import { channelOf } from './channel.js';
import { Doors } from './doors.js';

const NAMES = ['holdfast', 'Holdfast', 'a-b', 'a.b', 'a"b', "a'b", 'a\\b', '$function$', `long ${'é'.repeat(29)}`];

describe('channelOf', () => {
  it('K100: is short enough for any schema, keeps case and quotes, and has no backslash', () => {
    for (const name of NAMES) {
      const channel = channelOf(new SchemaName(name));
      expect(Buffer.byteLength(channel)).toBeLessThan(64);
      expect(channel).not.toContain('\\');
    }
    expect(channelOf(new SchemaName('Mixed-Case "q".x'))).toBe('holdfast:Mixed-Case "q".x');
  });

  it('K102: no two schemas and no two purposes share a channel, nor a door', () => {
    const channels = NAMES.flatMap((name) =>
      ['holdfast', 'holdfast-next'].map((purpose) => channelOf(new SchemaName(name), purpose)),
    );
    expect(new Set(channels).size).toBe(NAMES.length * 2);
    const doors = NAMES.map((name) => new Doors(new SchemaName(name)).first);
    expect(new Set(doors).size).toBe(NAMES.length);
    for (const first of doors) {
      expect(first % 32).toBe(first < 0 ? -0 : 0);
      expect(first + 31).toBeLessThanOrEqual(2 ** 31 - 1);
    }
  });
});
