import { fork, type ChildProcess } from 'node:child_process';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { LocalProblem } from './local.problem.js';

/** PartOptions say what a part runs. */
export interface PartOptions {
  readonly args?: readonly string[];
  /** endsWithStart has the part stop as by SIGTERM when the start is gone, and by force soon after. Default true; false for one that sees to it itself. */
  readonly endsWithStart?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly file: string;
  /** name stands before each line of its output. */
  readonly name: string;
}

const ROOT = resolve(__dirname, '../..');
const RUN_TS = ['-C', '@holdfast/source', '-r', join(ROOT, 'tools/register.cjs')];

/** Part is one of the processes of a local start. It is out of reach of Ctrl-C, which only the start itself answers, and ends with the start. */
export class Part {
  /** exited resolves when the process has ended, with how. */
  readonly exited: Promise<string>;
  readonly name: string;
  private readonly child: ChildProcess;
  private running = true;

  constructor(options: PartOptions) {
    this.name = options.name;
    this.child = fork(resolve(ROOT, options.file), [...(options.args ?? [])], {
      cwd: ROOT,
      detached: true,
      env: { ...process.env, ...options.env },
      execArgv: [
        ...RUN_TS,
        ...(options.endsWithStart === false ? [] : ['-r', join(ROOT, 'tools/end-with-parent.cjs')]),
      ],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', (line) => console.log(`[${this.name}] ${line}`));
    }
    this.exited = new Promise((done) => {
      this.child.once('error', (error) => this.end(done, `did not start: ${error.message}`));
      this.child.once('close', (code, signal) =>
        this.end(done, signal ? `was ended by ${signal}` : `ended with code ${code}`),
      );
    });
  }

  /** event answers the first message of that name; it rejects when the process ends without one. */
  event(name: string): Promise<Record<string, unknown>> {
    const message = new Promise<Record<string, unknown>>((found) => {
      this.child.on('message', (said: Record<string, unknown>) => said.event === name && found(said));
    });
    return Promise.race([message, this.failure()]);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** failure rejects with a LocalProblem when the process ends. */
  async failure(): Promise<never> {
    const how = await this.exited;
    throw new LocalProblem(`${this.name} ${how}.`);
  }

  /** stop tells the process to stop, ends it by force after `graceMs`, and resolves when it has ended. */
  async stop(graceMs: number): Promise<void> {
    if (!this.running) return;
    this.child.kill('SIGTERM');
    const force = setTimeout(() => this.child.kill('SIGKILL'), graceMs);
    await this.exited;
    clearTimeout(force);
  }

  private end(done: (how: string) => void, how: string): void {
    this.running = false;
    done(how);
  }
}
