import { Lane } from './lane.js';

const gate = () => {
  let open = () => undefined as void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open: () => open(), opened };
};

describe('a lane', () => {
  it('lets one through at a time, in order, whatever becomes of those before', async () => {
    const lane = new Lane();
    const seen: string[] = [];
    const first = gate();
    const one = lane.run(async () => {
      await first.opened;
      seen.push('one');
      throw new Error('no');
    });
    const two = lane.run(() => Promise.resolve(seen.push('two')));
    const three = lane.run(() => {
      throw new Error('thrown at once');
    });
    const four = lane.run(() => Promise.resolve(seen.push('four')));
    first.open();
    await expect(one).rejects.toThrow('no');
    await expect(three).rejects.toThrow('thrown at once');
    await Promise.all([two, four]);
    expect(seen).toEqual(['one', 'two', 'four']);
  });

  it('never begins what has waited in vain, and still lets those behind wait for those in front', async () => {
    const lane = new Lane();
    const seen: string[] = [];
    const first = gate();
    const one = lane.run(async () => {
      await first.opened;
      seen.push('one');
    });
    const late = lane.run(() => Promise.resolve(seen.push('late')), { late: () => new Error('late'), withinMs: 10 });
    const three = lane.run(() => Promise.resolve(seen.push('three')));
    await expect(late).rejects.toThrow('late');
    expect(seen).toEqual([]);
    first.open();
    await Promise.all([one, three]);
    expect(seen).toEqual(['one', 'three']);
  });
});
