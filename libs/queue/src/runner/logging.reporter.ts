import type { QueueEvent } from '../ports/queue.events.js';
import { Reporter } from '../ports/reporter.js';
import type { JobEvent } from '../ports/runner.events.js';
import { CLIENT_LINES } from './client.lines.js';
import { LISTENER_LINES } from './listener.lines.js';
import type { LinesOf, LogLevel } from './log.line.js';
import { OutageWatch } from './outage.watch.js';
import { RUNNER_LINES } from './runner.lines.js';
import { SCHEDULER_LINES } from './scheduler.lines.js';

/** LogSink takes one line with its fields; Nest's logger, pino and the console are each a line away from it. */
export type LogSink = (level: LogLevel, message: string, fields: Readonly<Record<string, unknown>>) => void;

/** LINES are what the log says of each event. */
const LINES: LinesOf<QueueEvent> = { ...CLIENT_LINES, ...LISTENER_LINES, ...RUNNER_LINES, ...SCHEDULER_LINES };

/**
 * LoggingReporter writes events as log lines: never a payload, and what an error says at warn and above only (R8).
 *
 * Of an outage one line says class and code, and one that it is over; the stacks are debug lines. What goes well, of a job or of the traffic (a claim, a renewal, an intake), is a debug line: nothing is written per job at info (M5).
 */
export class LoggingReporter extends Reporter {
  private readonly outages = new OutageWatch();

  constructor(private readonly sink: LogSink) {
    super();
  }

  override report(event: QueueEvent): void {
    const line = LINES[event.type] as (event: QueueEvent) => readonly [LogLevel, string] | undefined;
    const said = line(event);
    if (!said) return;
    const [level, message] = said;
    const stages = this.outages.linesOf(event, message);
    // What an error says may be what a user wrote.
    const usual = { level, message, withError: level === 'warn' || level === 'error' };
    for (const line of stages ?? [usual]) this.sink(line.level, line.message, fieldsOf(event, line.withError));
  }
}

function fieldsOf({ type, ...all }: QueueEvent, withError: boolean): Record<string, unknown> {
  const fields = { event: type, ...all, ...(!withError && 'error' in all ? { error: undefined } : {}) };
  return tidied('run' in all ? { ...fields, ...jobFields(all) } : fields);
}

function jobFields({ run }: Pick<JobEvent, 'run'>): Record<string, unknown> {
  return { attempt: run.attempt, jobId: run.id, kind: run.kind, run: undefined, tenantId: run.tenantId ?? undefined };
}

/** tidied leaves out what is undefined and rounds how long something took. */
function tidied(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    kept.map(([name, value]) => [name, typeof value === 'number' && name.endsWith('Ms') ? Math.round(value) : value]),
  );
}
