import { StartStop, type Startable } from './start-stop.js';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A thing that takes its time and knows whether it was asked for nonsense. */
class Machine implements Startable {
  log: string[] = [];
  on = false;
  startFails: Error | undefined;
  stopFails: Error | undefined;
  private busy = false;

  async start(): Promise<void> {
    await this.alone(() => {
      this.log.push('start');
      if (this.startFails) throw this.startFails;
      this.on = true;
    });
  }

  async stop(): Promise<void> {
    await this.alone(() => {
      this.log.push('stop');
      this.on = false;
      if (this.stopFails) throw this.stopFails;
    });
  }

  private async alone(step: () => void): Promise<void> {
    if (this.busy) throw new Error('Two at once.');
    this.busy = true;
    await turn();
    this.busy = false;
    step();
  }
}

describe('StartStop', () => {
  it('starts once and stops once, however often and in whatever moment it is asked', async () => {
    const machine = new Machine();
    const service = new StartStop(machine);
    await service.stop();
    await Promise.all([service.start(), service.start(), service.start()]);
    expect(service.running).toBe(true);
    await Promise.all([service.stop(), service.stop()]);
    await service.stop();
    expect(machine.log).toEqual(['start', 'stop']);
    expect(service.running).toBe(false);
    await service.start();
    expect(machine.on).toBe(true);
  });

  it('does what was asked last, in thousands of random orders', async () => {
    for (let round = 0; round < 200; round++) {
      const machine = new Machine();
      const service = new StartStop(machine);
      const calls: Promise<void>[] = [];
      let last = false;
      for (let i = 0; i < 10; i++) {
        last = Math.random() < 0.5;
        calls.push(last ? service.start() : service.stop());
        if (Math.random() < 0.5) await turn();
      }
      await Promise.all(calls);
      expect([machine.on, service.running]).toEqual([last, last]);
      expect(machine.log.every((entry, i) => entry === (i % 2 === 0 ? 'start' : 'stop'))).toBe(true);
    }
  });

  it('stops what a failed start had begun, tells its error, and can be started again', async () => {
    const machine = new Machine();
    const service = new StartStop(machine);
    machine.startFails = new Error('no database');
    machine.stopFails = new Error('nothing to stop');
    await expect(service.start()).rejects.toBe(machine.startFails);
    expect(machine.log).toEqual(['start', 'stop']);
    expect(service.running).toBe(false);
    machine.startFails = undefined;
    await service.start();
    await expect(service.stop()).rejects.toBe(machine.stopFails);
    expect(service.running).toBe(false);
    machine.stopFails = undefined;
    await service.start();
    await service.stop();
  });

  it('tells a start that waits, or has yet to begin, that it is to stop', async () => {
    const waiting: Startable = {
      start: (signal) =>
        new Promise((_, reject) => {
          const stop = () => reject(new Error('interrupted'));
          if (signal.aborted) stop();
          signal.addEventListener('abort', stop);
        }),
      stop: () => undefined,
    };
    const service = new StartStop(waiting);
    const started = [service.start(), service.start()].map((start) => expect(start).rejects.toThrow('interrupted'));
    await service.stop();
    await Promise.all(started);
  });
});
