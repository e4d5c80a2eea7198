import { isConnectionLost, property } from '@holdfast/kernel';
import { describeClass } from '../domain/error.summary.js';
import type { EventOf, QueueEvent } from '../ports/queue.events.js';
import type { LogLevel } from './log.line.js';

/** Line is what is said of an event, and whether with its error. */
interface Line {
  readonly level: LogLevel;
  readonly message: string;
  readonly withError: boolean;
}

type Failed = EventOf<'loop.failed'> | EventOf<'scheduler.failed'>;
type Recovered = EventOf<'loop.recovered'> | EventOf<'scheduler.recovered'>;

/** A stage is tried again after 15 s at most, or a tick: what has been silent for longer is over, whoever saw its end. */
const SILENT_MS = 120_000;
/** Of what goes on failing so many times in a row is told once more, as an error. */
const LASTING = 3;
/** Told by itself, with the remedy (L4). */
const POOLER = 'queue.pooler';

/**
 * OutageWatch says of stages that fail what a reader needs: of a database that is not reached one warning for all of them, with class and code, and one
 * line when it is back; of anything else the full error, once as a warning and once as an error when it lasts. The tries between are debug lines.
 */
export class OutageWatch {
  private lastAt = 0;
  private readonly lost = new Set<string>();
  private since: number | undefined;

  /** linesOf answers what is said of an event, of which the log would say `message` by itself; undefined where it is not about a stage. */
  linesOf(event: QueueEvent, message: string): readonly Line[] | undefined {
    if (event.type === 'loop.failed' || event.type === 'scheduler.failed') return this.failed(event, message);
    if (event.type === 'loop.recovered' || event.type === 'scheduler.recovered') return this.recovered(event, message);
    return undefined;
  }

  private failed(event: Failed, message: string): readonly Line[] {
    const { error, failures } = event;
    const tried: Line = { level: 'debug', message, withError: true };
    if (!isConnectionLost(error)) {
      this.lost.delete(nameOf(event));
      const isTold = (failures === 1 || failures === LASTING) && property(error, 'code') !== POOLER;
      return isTold ? [{ level: failures === 1 ? 'warn' : 'error', message, withError: true }] : [tried];
    }
    const now = performance.now();
    const isNew = this.since === undefined || now - this.lastAt > SILENT_MS;
    this.lastAt = now;
    this.lost.add(nameOf(event));
    if (!isNew) return [tried];
    this.since = now;
    const told = `The database is not reached: ${describeClass(error)} (${nameOf(event)}). It is tried again until it is; each try is a debug line.`;
    return [{ level: 'warn', message: told, withError: false }, tried];
  }

  private recovered(event: Recovered, message: string): readonly Line[] {
    if (!this.lost.delete(nameOf(event))) return [{ level: 'info', message, withError: false }];
    const quiet: Line = { level: 'debug', message, withError: false };
    if (this.since === undefined) return [quiet];
    const seconds = Math.round((performance.now() - this.since) / 1_000);
    this.since = undefined;
    return [{ level: 'info', message: `The database is reached again, after ${seconds} s.`, withError: false }, quiet];
  }
}

function nameOf({ stage, type }: Failed | Recovered): string {
  return `the ${type.startsWith('loop') ? 'runner' : 'scheduler'}'s ${stage}`;
}
