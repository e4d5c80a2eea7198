import { spawn } from 'node:child_process';

const PATIENCE_MS = 300_000;

/** Measure is what a contender's process reports: its time, and what proves that the work was done, once. */
export interface Measure {
  readonly distinct: number;
  readonly effects: number;
  readonly jobs: number;
  readonly left: number;
  readonly seconds: number;
  readonly statements?: number;
}

/** runContender runs a contender in a process of its own and answers its last line, checked: every job exactly once, nothing left. */
export async function runContender(
  node: string,
  args: readonly string[],
  expected: { jobs: number; effects: number },
): Promise<Measure> {
  const output = await outputOf(node, args);
  const measure = JSON.parse(output.trim().split('\n').at(-1) ?? '') as Measure;
  const { distinct, effects, jobs, left } = measure;
  if (jobs !== expected.jobs || distinct !== expected.jobs || left !== 0 || effects !== expected.effects) {
    throw new Error(`A contender did not do its work: ${JSON.stringify({ measure, expected })} (${args.join(' ')})`);
  }
  return measure;
}

/** outputOf answers what a child printed; it rejects when the child fails or outlasts its patience. */
export function outputOf(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve(output);
      else reject(new Error(`${command} ${args.join(' ')} ended with ${signal ?? code}.`));
    });
  });
}
