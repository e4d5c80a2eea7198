/** SoakOptions are what the command line says. */
export interface SoakOptions {
  readonly minutes: number;
  readonly seed: number;
}

/** soakOptions reads `--minutes N` (default 2) and `--seed S` (default: a new one). Throws an Error that says what may be given. */
export function soakOptions(args: readonly string[]): SoakOptions {
  const given = new Map<string, number>();
  for (let at = 0; at < args.length; at += 2) {
    const value = Number(args[at + 1]);
    if (!['--minutes', '--seed'].includes(args[at]!) || args[at + 1] === undefined || !(value > 0))
      throw new Error(`${args.join(' ')}: give --minutes N and --seed S, each a number above 0.`);
    given.set(args[at]!, value);
  }
  return { minutes: given.get('--minutes') ?? 2, seed: given.get('--seed') ?? Math.floor(Math.random() * 1e9) + 1 };
}
