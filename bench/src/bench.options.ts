import { parseArgs } from 'node:util';

/** BenchOptions are what the command line asks for. */
export interface BenchOptions {
  /** json is the file that gets the figures, or undefined. */
  readonly json: string | undefined;
  readonly only: readonly string[] | undefined;
  readonly quick: boolean;
  readonly rounds: number;
}

const USAGE = 'Usage: npm run bench -- [--only P1,P2,P3,Q7] [--quick] [--rounds N] [--json FILE]';

/** parseBenchOptions reads the command line; it throws with the usage in the message. */
export function parseBenchOptions(args: readonly string[]): BenchOptions {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        json: { type: 'string' },
        only: { type: 'string' },
        quick: { type: 'boolean', default: false },
        rounds: { type: 'string', default: '3' },
      },
    });
    const rounds = Number(values.rounds);
    if (!Number.isInteger(rounds) || rounds < 1 || rounds > 20)
      throw new Error('--rounds takes a whole number from 1 to 20');
    return { json: values.json, only: values.only?.split(',').map((name) => name.trim()), quick: values.quick, rounds };
  } catch (cause) {
    throw new Error(`${(cause as Error).message}\n${USAGE}`, { cause });
  }
}
