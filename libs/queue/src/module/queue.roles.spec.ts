import { queueRoles, type QueueRole } from './queue.roles.js';

describe('queueRoles', () => {
  it.each<[string, readonly QueueRole[] | undefined, string | undefined, boolean]>([
    ['both where nobody says', undefined, undefined, true],
    ['both where the environment is empty', undefined, ' ', true],
    ['those of the environment', undefined, 'enqueue', false],
    ['those of the code, whatever the environment says', ['run'], 'enqueue', true],
    ['those of the code', ['enqueue'], undefined, false],
  ])('are %s', (_, roles, variable, run) => {
    expect(queueRoles(roles, { HOLDFAST_ROLES: variable })).toEqual({ problems: [], run });
  });

  it('name what is wrong and where it was said', () => {
    expect(queueRoles(undefined, { HOLDFAST_ROLES: 'run,work' }).problems).toEqual([
      'HOLDFAST_ROLES names work, known are enqueue and run',
    ]);
    expect(queueRoles([], {}).problems).toEqual(['roles is empty: name enqueue or run']);
  });
});
