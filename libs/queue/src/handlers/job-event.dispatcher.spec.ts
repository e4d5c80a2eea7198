import { ambientTransaction, runInTransaction, type Transaction } from '@holdfast/kernel';
import { EventStream } from '../ports/event.stream.js';
import type { QueueEvent } from '../ports/queue.events.js';
import { JobEventDispatcher } from './job-event.dispatcher.js';

const run = { attempt: 1, id: '7', kind: 'mail.send', tenantId: null };
const started = (id: string): QueueEvent => ({ type: 'job.started', run: { ...run, id }, waitedMs: 1 });
const idOf = (event: QueueEvent) => ('run' in event ? event.run.id : '');

class Stand {
  readonly stream = new EventStream();
  readonly told: QueueEvent[] = [];
  readonly dispatcher = new JobEventDispatcher({ report: (event) => void this.told.push(event) });

  listen(call: (event: QueueEvent) => unknown, source = 'the listener'): this {
    this.dispatcher.register({ call, identity: call, kind: undefined, source, type: 'job.started' });
    this.dispatcher.hear(this.stream);
    return this;
  }
}

describe('JobEventDispatcher', () => {
  it('R20: tells a listener one event after the other, in order, and outside the call that reports them', async () => {
    const steps: string[] = [];
    const stand = new Stand().listen(async (event) => {
      steps.push(`${idOf(event)} in`);
      await new Promise((resolve) => setImmediate(resolve));
      steps.push(`${idOf(event)} out`);
    });
    for (const id of ['1', '2']) stand.stream.report(started(id));
    expect(steps).toEqual([]);
    await stand.dispatcher.close();
    expect(steps).toEqual(['1 in', '1 out', '2 in', '2 out']);
  });

  it('R20: what a listener throws is told once, and hurts neither the next event nor the other listeners', async () => {
    const heard: string[] = [];
    const stand = new Stand()
      .listen((event) => {
        if (idOf(event) === '1') throw new Error('at once');
        return Promise.reject(new Error('later'));
      }, 'the bad one')
      .listen((event) => void heard.push(idOf(event)), 'the good one');
    for (const id of ['1', '2']) stand.stream.report(started(id));
    await stand.dispatcher.close();
    expect(heard).toEqual(['1', '2']);
    expect(stand.told).toEqual(
      ['at once', 'later'].map((message) => ({
        type: 'listener.failed',
        error: new Error(message),
        event: 'job.started',
        listener: 'the bad one',
      })),
    );
  });

  it('R20: a reporter that throws ends no listener', async () => {
    const heard: string[] = [];
    const dispatcher = new JobEventDispatcher({
      report: () => {
        throw new Error('the log is full');
      },
    });
    const stream = new EventStream();
    const call = (event: QueueEvent) => {
      heard.push(idOf(event));
      throw new Error('bad');
    };
    dispatcher.register({ call, identity: call, kind: undefined, source: 'x', type: 'job.started' });
    dispatcher.hear(stream);
    for (const id of ['1', '2']) stream.report(started(id));
    await dispatcher.close();
    expect(heard).toEqual(['1', '2']);
  });

  it('R20: while a listener is busy 1000 events wait; it is told that more were left out, at the first and with the sum', async () => {
    let open = () => undefined as void;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const heard: string[] = [];
    const stand = new Stand().listen(async (event) => {
      await gate;
      heard.push(idOf(event));
    });
    stand.stream.report(started('first'));
    await new Promise((resolve) => setImmediate(resolve));
    for (let n = 0; n < 1_005; n += 1) stand.stream.report(started(String(n)));
    const behind = { type: 'listener.behind', listener: 'the listener' };
    expect(stand.told).toEqual([{ ...behind, dropped: 1, waiting: 1_000 }]);
    open();
    await stand.dispatcher.close();
    expect(stand.told.at(-1)).toEqual({ ...behind, dropped: 5, waiting: 0 });
    expect(heard).toHaveLength(1_001);
  });

  it('R20: a listener is called outside the transaction of whoever reports', async () => {
    const database = {};
    const seen: unknown[] = [];
    const stand = new Stand().listen(() => void seen.push(ambientTransaction(database)));
    runInTransaction(database, {} as Transaction, () => stand.stream.report(started('1')));
    await stand.dispatcher.close();
    expect(seen).toEqual([undefined]);
  });

  it('K27: after its close a listener hears nothing more, and one that hangs does not hold it up', async () => {
    const heard: string[] = [];
    const stand = new Stand().listen((event) => {
      heard.push(idOf(event));
      return new Promise(() => undefined);
    });
    for (const id of ['1', '2']) stand.stream.report(started(id));
    await stand.dispatcher.close();
    await stand.dispatcher.close();
    stand.stream.report(started('3'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(heard).toEqual(['1']);
  });

  it('K35: the same listener twice, or the same stream twice, is told once', async () => {
    const heard: string[] = [];
    const call = (event: QueueEvent) => void heard.push(idOf(event));
    const stand = new Stand().listen(call).listen(call);
    stand.stream.report(started('1'));
    await stand.dispatcher.close();
    expect(heard).toEqual(['1']);
  });
});
