/** Contender is one party of a comparison: each call is one round and answers its figure (jobs or commits a second). */
export interface Contender {
  readonly name: string;
  readonly round: (round: number) => Promise<number>;
}

/** Figures are the figures of one party, a number a round. */
export interface Figures {
  readonly name: string;
  readonly median: number;
  readonly rounds: readonly number[];
}

/** runRounds lets the parties take turns, so that a noisy machine disturbs all of them alike. */
export async function runRounds(
  contenders: readonly Contender[],
  rounds: number,
  log: (line: string) => void,
): Promise<Figures[]> {
  const figures = contenders.map(() => [] as number[]);
  for (let round = 1; round <= rounds; round += 1) {
    for (const [index, contender] of contenders.entries()) {
      const figure = await contender.round(round);
      figures[index]?.push(figure);
      log(`  round ${round}  ${contender.name.padEnd(44)} ${Math.round(figure)}/s`);
    }
  }
  return contenders.map(({ name }, index) => ({
    name,
    median: median(figures[index] ?? []),
    rounds: figures[index] ?? [],
  }));
}

/** ratioOf answers the median of the ratios round by round: a slow moment of the machine cancels out. */
export function ratioOf(ours: Figures, theirs: Figures): number {
  return median(ours.rounds.map((figure, round) => figure / (theirs.rounds[round] ?? Number.NaN)));
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1
    ? (sorted[Math.floor(middle)] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}
