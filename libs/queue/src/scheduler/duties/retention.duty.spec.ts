import { DEFAULT_RETENTION } from '../../domain/retention.js';
import type { DutyContext } from '../../ports/duty.js';
import { type ExpiredPage, Housekeeping, type Swept, type SweepOrder } from '../../ports/housekeeping.js';
import type { EventOf, QueueEvent } from '../../ports/queue.events.js';
import { RetentionDuty } from './retention.duty.js';

const KEEP_MS = 86_400_000;

/** Store is a table of finished jobs, by kind, in pages of two kinds. */
class Store extends Housekeeping {
  readonly orders: string[] = [];
  onSweep: (order: SweepOrder) => void = () => undefined;

  constructor(readonly counts: Record<string, number>) {
    super();
  }

  override databaseHealth(): Promise<never> {
    throw new Error('Retention asks for no health.');
  }

  override deferrals(): Promise<never> {
    throw new Error('Retention asks for no deferrals.');
  }

  override async expired(after: string | undefined): Promise<ExpiredPage> {
    const kinds = Object.keys(this.counts)
      .sort()
      .filter((kind) => kind > (after ?? ''))
      .slice(0, 2);
    const left = kinds.filter((kind) => this.counts[kind]! > 0);
    return {
      expired: left.map((kind) => ({ ending: 'succeeded', keepMs: KEEP_MS, kind })),
      next: kinds.length === 2 ? kinds[1] : undefined,
    };
  }

  override async sweep(order: SweepOrder): Promise<Swept> {
    const { after, kind, limit } = order;
    this.onSweep(order);
    const removed = Math.min(limit, this.counts[kind]!);
    this.counts[kind]! -= removed;
    this.orders.push(`${kind} ${after?.id ?? 'from the start'}: ${removed}`);
    return { mark: removed > 0 ? { endedAt: '1', id: String(this.orders.length) } : undefined, removed };
  }

  override async sweepRunRows(): Promise<number> {
    return 0;
  }
}

describe('RetentionDuty', () => {
  const stop = new AbortController();
  const ctx = { isLeader: true, signal: stop.signal } as DutyContext;
  const dutyOf = (store: Store, limits = { batch: 10, budgetMs: 60_000 }) => {
    const events: QueueEvent[] = [];
    const duty = new RetentionDuty(store, { report: (event) => void events.push(event) }, DEFAULT_RETENTION, limits);
    const told = () =>
      (events as EventOf<'retention.swept'>[]).map(({ kind, more, removed }) => `${kind} ${removed}${more ? '+' : ''}`);
    return { duty, told };
  };

  it('S5: kinds have their turns, a batch each, and each batch goes on where the one before ended', async () => {
    const store = new Store({ a: 25, b: 5 });
    const { duty, told } = dutyOf(store);
    await duty.run(ctx);
    expect(store.orders).toEqual(['a from the start: 10', 'b from the start: 5', 'a 1: 10', 'a 3: 5']);
    expect(told()).toEqual(['a 25', 'b 5']);
  });

  it('S5: a run is bounded in time, and the next one begins with the kinds that it did not come to', async () => {
    const store = new Store({ a: 1_000_000, b: 5, c: 5, d: 5, e: 5 });
    let now = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
    store.onSweep = () => void (now += 100);
    const { duty, told } = dutyOf(store, { batch: 10, budgetMs: 1_000 });
    await duty.run(ctx);
    expect(store.orders).toHaveLength(10);
    expect(told()).toEqual(['a 90+', 'b 5']);
    await duty.run(ctx);
    clock.mockRestore();
    expect(store.counts).toMatchObject({ c: 0, d: 0, e: 0 });
  });

  it('S5, L3: removes nothing once this process leads no more or is told to stop', async () => {
    const store = new Store({ a: 25 });
    const leads = { isLeader: true };
    store.onSweep = () => void (leads.isLeader = false);
    const { duty, told } = dutyOf(store);
    await duty.run({
      ...ctx,
      get isLeader() {
        return leads.isLeader;
      },
    });
    expect(told()).toEqual(['a 10+']);
    const stopped = AbortSignal.abort();
    await duty.run({ ...ctx, signal: stopped });
    expect(store.counts['a']).toBe(15);
  });

  it('S5: what was removed is told, also where a later batch fails', async () => {
    const store = new Store({ a: 25, b: 5 });
    store.onSweep = ({ kind }) => {
      if (kind === 'b') throw new Error('gone');
    };
    const { duty, told } = dutyOf(store);
    await expect(duty.run(ctx)).rejects.toThrow('gone');
    expect(told()).toEqual(['a 10+']);
  });
});
