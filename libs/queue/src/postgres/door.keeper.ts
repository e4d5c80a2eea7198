import { type BoundStatement, type SchemaName, startTimer, type Timer } from '@holdfast/kernel';
import { callNext } from './sql/call-next.sql.js';
import { leaveDoors } from './sql/leave-doors.sql.js';
import { numberDoors } from './sql/number-doors.sql.js';
import { queueAtDoors } from './sql/queue-at-doors.sql.js';
import { takeDoors } from './sql/take-doors.sql.js';

/** DoorKeeperParts are what a door keeper works with. */
export interface DoorKeeperParts {
  /** keptRetryMs is how often a door that another one keeps is tried without being called. Default 5 000. */
  readonly keptRetryMs?: number;
  /** nextChannel is where those are told who wait for a door. */
  readonly nextChannel: string;
  readonly schema: SchemaName;
  /** send sends a statement on the session that keeps the doors; it rejects when that is gone. */
  readonly send: <Row>(statement: BoundStatement<Row>) => Promise<readonly Row[]>;
  /** wake is called after a door was taken: what was committed before is looked for only now. */
  readonly wake: () => void;
}

const FIRST_RETRY_MS = 5;
const LONGEST_RETRY_MS = 250;
/** Whoever keeps a door calls the next one when he leaves. One that was killed does not: so his door is tried now and then. */
const KEPT_RETRY_MS = 5_000;

/**
 * DoorKeeper keeps the doors of the kinds that its process is idle for, for as long as one session lives (Q10).
 *
 * One step at a time, towards what was asked for last. A door that somebody who commits has in his hand is tried again at once, and looked behind each
 * time; one that another consumer keeps is waited for: that one notifies everybody, and calls the next when it leaves.
 */
export class DoorKeeper {
  private ended = false;
  private held = new Set<number>();
  private isQueued = false;
  private readonly numbers = new Map<string, number>();
  private passes = 0;
  private retry: Timer | undefined;
  private stepping: Promise<void> | undefined;
  private stepAgain = false;
  private wanted: readonly string[] = [];

  constructor(private readonly parts: DoorKeeperParts) {}

  /** end forgets everything: the session is gone, and its locks with it. */
  end(): void {
    this.ended = true;
    this.retry?.clear();
  }

  /** idle says for which kinds doors are to be kept. */
  idle(kinds: readonly string[]): void {
    this.wanted = kinds;
    this.step();
  }

  /** called says that somebody has left a door. */
  called(): void {
    if (this.isQueued) this.step();
  }

  /** leaveAll leaves every door. It never rejects. */
  async leaveAll(): Promise<void> {
    this.idle([]);
    await this.stepping;
    this.end();
  }

  private async doorsOf(kinds: readonly string[]): Promise<Set<number>> {
    const unknown = kinds.filter((kind) => !this.numbers.has(kind));
    if (unknown.length > 0) {
      const rows = await this.parts.send(numberDoors.bind(this.parts.schema, { kinds: unknown }));
      for (const { door, kind } of rows) this.numbers.set(kind, door);
    }
    return new Set(kinds.map((kind) => this.numbers.get(kind)!));
  }

  private async leave(doors: readonly number[]): Promise<void> {
    const { nextChannel, schema, send } = this.parts;
    await send(leaveDoors.bind(schema, { doors }));
    for (const door of doors) this.held.delete(door);
    await send(callNext.bind(schema, { channel: nextChannel }));
  }

  private async queue(waits: boolean): Promise<void> {
    await this.parts.send(queueAtDoors.bind(this.parts.schema, { waits }));
    this.isQueued = waits;
  }

  private step(): void {
    this.stepAgain = true;
    if (this.stepping || this.ended) return;
    this.stepping = this.steps().finally(() => {
      this.stepping = undefined;
      if (this.stepAgain) this.step();
    });
  }

  /** What fails here has ended the session, or will be done again by its next one. */
  private async steps(): Promise<void> {
    try {
      while (this.stepAgain && !this.ended) {
        this.stepAgain = false;
        this.retry?.clear();
        await this.walk();
      }
    } catch {
      if (!this.ended) this.againSoon();
    }
  }

  private again(delayMs: number): void {
    this.retry?.clear();
    this.retry = startTimer(delayMs, () => this.step(), { unref: true });
  }

  private againSoon(): void {
    this.again(Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(this.passes, 10)));
    this.passes += 1;
  }

  /** take answers what the doors that were not held are now; a door that was taken is looked behind. */
  private async take(doors: readonly number[]): Promise<Set<'held' | 'kept' | 'passing'>> {
    const rows = await this.parts.send(takeDoors.bind(this.parts.schema, { doors }));
    for (const { door, state } of rows) if (state === 'held') this.held.add(door);
    return new Set(rows.map(({ state }) => state));
  }

  private async walk(): Promise<void> {
    const wanted = await this.doorsOf(this.wanted);
    const left = [...this.held].filter((door) => !wanted.has(door));
    if (left.length > 0) await this.leave(left);
    const missing = () => [...wanted].filter((door) => !this.held.has(door));
    if (missing().length === 0) {
      this.passes = 0;
      if (this.isQueued) await this.queue(false);
      return;
    }
    let found = await this.take(missing());
    if (found.has('kept') && !this.isQueued) {
      // Who waits says so first and tries then: the one who left meanwhile has not called.
      await this.queue(true);
      const seen = await this.take(missing());
      found = new Set([...seen, ...(found.has('held') ? (['held'] as const) : [])]);
    }
    if (found.has('passing')) this.againSoon();
    else this.passes = 0;
    if (found.has('kept') && !found.has('passing')) this.again(this.parts.keptRetryMs ?? KEPT_RETRY_MS);
    // Behind a door that another one keeps there is nothing that he was not notified of, and he hears it for all.
    if (found.has('held') || found.has('passing')) this.parts.wake();
  }
}
