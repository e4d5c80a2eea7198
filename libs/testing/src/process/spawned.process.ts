import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { within } from '../wait/within.js';

/** ProcessExit is how a process ended. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** ProcessEvent is what a child said by `process.send({ event: 'ready', … })`. */
export type ProcessEvent = { readonly event: string } & Readonly<Record<string, unknown>>;

const DEADLINE_MS = 30_000;
type Listener = () => void;

/** SpawnedProcess is a child process of a test: its events, its lines, its end. Everything is awaited with a deadline (default 30 s). */
export class SpawnedProcess {
  readonly events: ProcessEvent[] = [];
  /** lines are those of stdout and stderr, in the order of their arrival. */
  readonly lines: string[] = [];
  private end: ProcessExit | undefined;
  private readonly listeners = new Set<Listener>();

  constructor(
    private readonly child: ChildProcess,
    private readonly name: string,
  ) {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', (line) => this.add(this.lines, line));
    }
    child.on('message', (message: ProcessEvent) => this.add(this.events, message));
    child.on('error', (error) => this.add(this.lines, String(error)));
    // 'close' and not 'exit': the last lines have been read by then.
    child.on('close', (code, signal) => {
      this.end = { code, signal };
      this.wake();
    });
  }

  get exited(): boolean {
    return this.end !== undefined;
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error(`${this.name} did not start:\n${this.lines.join('\n')}`);
    return this.child.pid;
  }

  /** event answers the first event of that name that no earlier call answered. Throws when the process ends without it. */
  event(name: string, deadlineMs = DEADLINE_MS): Promise<ProcessEvent> {
    return this.until(`the event "${name}"`, deadlineMs, () => take(this.events, (event) => event.event === name));
  }

  /** exit answers how the process ended. It does not end it. */
  exit(deadlineMs = DEADLINE_MS): Promise<ProcessExit> {
    return this.until('its end', deadlineMs, () => this.end);
  }

  /** kill sends SIGKILL and waits for the end. */
  async kill(): Promise<ProcessExit> {
    this.signal('SIGKILL');
    return this.exit();
  }

  /** line answers the first line that matches, also one that was written before. Throws when the process ends without it. */
  line(pattern: RegExp | string, deadlineMs = DEADLINE_MS): Promise<string> {
    const matches = (line: string) => (typeof pattern === 'string' ? line.includes(pattern) : pattern.test(line));
    return this.until(`a line with ${String(pattern)}`, deadlineMs, () => this.lines.find(matches));
  }

  /** send hands the child a message: `process.on('message', …)`. */
  send(message: Readonly<Record<string, unknown>>): void {
    this.child.send(message);
  }

  /** signal sends a signal, such as SIGINT, SIGSTOP or SIGCONT. */
  signal(signal: NodeJS.Signals): void {
    if (!this.exited) this.child.kill(signal);
  }

  /** stop sends SIGTERM and waits for the end; a process that does not go within the deadline is killed, and that throws. */
  async stop(deadlineMs = DEADLINE_MS): Promise<ProcessExit> {
    this.signal('SIGTERM');
    try {
      return await this.exit(deadlineMs);
    } catch (error) {
      await this.kill();
      throw error;
    }
  }

  private add<T>(to: T[], item: T): void {
    to.push(item);
    this.wake();
  }

  private async until<T>(what: string, deadlineMs: number, look: () => T | undefined): Promise<T> {
    let listener: Listener = () => undefined;
    const found = new Promise<T>((resolve, reject) => {
      listener = () => {
        const answer = look();
        if (answer !== undefined) resolve(answer);
        else if (this.end) reject(new Error(`${this.name} ended (${JSON.stringify(this.end)}) before ${what}.`));
      };
      this.listeners.add(listener);
      listener();
    });
    try {
      return await within(found, deadlineMs, `${what} of ${this.name}`);
    } catch (error) {
      throw new Error(`${(error as Error).message} It had said:\n${this.lines.slice(-40).join('\n')}`, {
        cause: error,
      });
    } finally {
      this.listeners.delete(listener);
    }
  }

  private wake(): void {
    for (const listener of this.listeners) listener();
  }
}

function take<T>(from: T[], matches: (item: T) => boolean): T | undefined {
  const i = from.findIndex(matches);
  return i < 0 ? undefined : from.splice(i, 1)[0];
}
