import { WakeTide } from './wake.tide.js';

describe('WakeTide', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const flooded = () => {
    const tide = new WakeTide();
    for (let n = 0; n < 6; n++) tide.woken();
    return tide;
  };

  it('Q10: five wakes in a tenth of a second are borne, with the sixth it looks by itself every 10 ms', () => {
    const tide = new WakeTide();
    for (let n = 0; n < 5; n++) tide.woken();
    expect(tide.isHigh).toBe(false);
    expect(tide.lookInMs).toBe(Infinity);
    tide.woken();
    expect(tide.isHigh).toBe(true);
    expect(tide.lookInMs).toBe(10);
    jest.advanceTimersByTime(4);
    expect(tide.lookInMs).toBe(6);
    jest.advanceTimersByTime(20);
    expect(tide.lookInMs).toBe(0);
  });

  it('Q10: wakes that are further apart never become too many', () => {
    const tide = new WakeTide();
    for (let n = 0; n < 100; n++) {
      tide.woken();
      jest.advanceTimersByTime(21);
    }
    expect(tide.isHigh).toBe(false);
  });

  it('Q10: three looks in a row that find nothing end it, one that finds something begins anew', () => {
    const tide = flooded();
    for (const found of [false, false, true, false, false]) tide.looked(found);
    expect(tide.isHigh).toBe(true);
    expect(tide.lookInMs).toBe(10);
    tide.looked(false);
    expect(tide.isHigh).toBe(false);
    expect(tide.lookInMs).toBe(Infinity);
  });

  it('Q10: a wake that is late, while it looks by itself, changes nothing', () => {
    const tide = flooded();
    tide.looked(false);
    tide.looked(false);
    tide.woken();
    tide.looked(false);
    expect(tide.isHigh).toBe(false);
  });
});
