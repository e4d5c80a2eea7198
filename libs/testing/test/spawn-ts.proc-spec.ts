import { isAlive, spawnTs, waitFor } from '@holdfast/testing';

const CHILD = 'libs/testing/test/fixtures/child.ts';

describe('spawnTs', () => {
  it('answers events and lines, also those that came before somebody asked', async () => {
    const child = spawnTs(CHILD, { args: ['leaf'] });
    await child.line('line of leaf');
    expect(await child.event('ready')).toMatchObject({ mode: 'leaf' });
    expect(await child.stop()).toEqual({ code: 0, signal: null });
    expect(child.lines).toContain('stopping');
  });

  it('answers how a process ended', async () => {
    const child = spawnTs(CHILD, { args: ['fails'] });
    await child.event('ready');
    child.signal('SIGTERM');
    expect(await child.exit()).toEqual({ code: 3, signal: null });
    const killed = spawnTs(CHILD);
    await killed.event('ready');
    expect(await killed.kill()).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('throws with the last lines when the process ends, or the deadline passes, without the event', async () => {
    const child = spawnTs(CHILD, { args: ['leaf'] });
    await child.event('ready');
    await expect(child.event('never', 50)).rejects.toThrow(/50 ms in vain for the event "never"[^]*line of leaf/);
    const never = child.event('never');
    child.signal('SIGKILL');
    await expect(never).rejects.toThrow('ended ({"code":null,"signal":"SIGKILL"}) before the event "never"');
  });

  it('runs children that end when their parent is killed', async () => {
    const parent = spawnTs(CHILD, { args: ['parent'] });
    const { grandchild } = await parent.event('ready');
    expect(isAlive(grandchild as number)).toBe(true);
    await parent.kill();
    await waitFor(() => !isAlive(grandchild as number), { what: 'the grandchild to end' });
  });
});
