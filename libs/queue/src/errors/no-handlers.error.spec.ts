import { NoHandlersError } from './no-handlers.error.js';

describe('NoHandlersError', () => {
  const roles =
    "or leave 'run' out of the roles of this process: they stand in the code, else in HOLDFAST_ROLES, else it has all.";

  it('trap 9: says what is missing, with the remedy that fits', () => {
    expect(new NoHandlersError([]).message).toBe(
      `This process has the role run and nothing to run: no provider is marked with @JobHandler. Mark one, ${roles}`,
    );
    expect(new NoHandlersError([], ['SendHandler @JobHandler(mail.send)', 'Sweep @LeaderDuty(a.b)']).message).toBe(
      `This process has the role run and nothing to run: no module lists SendHandler @JobHandler(mail.send) under its providers. List it there, ${roles}`,
    );
    expect(new NoHandlersError(['mail.send', 'mail.sort']).message).toBe(
      `This process has the role run and nothing to run: run.only and run.except leave out every kind that has a handler here: mail.send, mail.sort. Let one of them in, ${roles}`,
    );
  });
});
