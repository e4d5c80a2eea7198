import type { BenchServer } from './bench.server.js';
import type { BenchOptions } from './bench.options.js';
import type { Figures } from './rounds.js';

/** BenchTools are what a case works with. */
export interface BenchTools {
  readonly log: (line: string) => void;
  /** node is the Node that every contender runs on. */
  readonly node: string;
  readonly options: BenchOptions;
  readonly server: BenchServer;
}

/** CaseResult is what a case found: the figures of each party and the ratios that matter. */
export interface CaseResult {
  readonly figures: readonly Figures[];
  readonly name: string;
  /** ratios name what they compare; the bars of docs/design/performance.md are held against them. */
  readonly ratios: Readonly<Record<string, number>>;
  readonly unit: string;
}

/** BenchCase is one comparison. */
export interface BenchCase {
  readonly name: string;
  readonly title: string;
  run(tools: BenchTools): Promise<CaseResult>;
}
