import { queueRoles, type QueueRole } from './queue.roles.js';

describe('queueRoles', () => {
  it.each<[string, readonly QueueRole[] | undefined, string | undefined, boolean, boolean]>([
    ['all where nobody says', undefined, undefined, true, true],
    ['all where the environment is empty', undefined, ' ', true, true],
    ['those of the environment', undefined, 'enqueue,schedule', false, true],
    ['those of the code, whatever the environment says', ['run'], 'enqueue', true, false],
    ['those of the code', ['enqueue'], undefined, false, false],
  ])('are %s', (_, roles, variable, run, schedule) => {
    expect(queueRoles(roles, { HOLDFAST_ROLES: variable })).toEqual({ problems: [], run, schedule });
  });

  it('name what is wrong and where it was said', () => {
    expect(queueRoles(undefined, { HOLDFAST_ROLES: 'run,work' }).problems).toEqual([
      'HOLDFAST_ROLES names work, known are enqueue, run, schedule',
    ]);
    expect(queueRoles([], {}).problems).toEqual(['roles is empty: name enqueue, run, schedule']);
  });
});
