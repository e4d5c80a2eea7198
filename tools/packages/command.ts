import { spawn } from 'node:child_process';

/** CommandOptions say where a program runs and how long it may take. */
export interface CommandOptions {
  readonly cwd: string;
  /** deadlineMs ends the program. Default 300 000. */
  readonly deadlineMs?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** CommandEnd is how a program ended and what it said: `output` of that on its standard output. */
export interface CommandEnd {
  readonly code: number | null;
  readonly output: string;
  readonly text: string;
}

/** run answers a program's standard output; it rejects with all it said when it fails. */
export async function run(command: string, args: readonly string[], options: CommandOptions): Promise<string> {
  const { code, output, text } = await attempt(command, args, options);
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${code ?? 'a signal'}:\n${text}`);
  return output;
}

/** attempt runs a program to its end, whatever that is. */
export function attempt(command: string, args: readonly string[], options: CommandOptions): Promise<CommandEnd> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      killSignal: 'SIGKILL',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: options.deadlineMs ?? 300_000,
    });
    let [output, text] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      output += part;
      text += part;
    });
    child.stderr.setEncoding('utf8').on('data', (part: string) => (text += part));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output, text }));
  });
}
