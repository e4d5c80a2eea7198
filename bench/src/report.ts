import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { BENCH_SETTINGS } from './bench.settings.js';
import type { CaseResult } from './case.js';

/** BenchHost says where and on what the figures were measured. */
export interface BenchHost {
  readonly node: string;
  readonly postgres: string;
}

/** tableOf writes a result as text. */
export function tableOf(result: CaseResult): string {
  const rows = result.figures.map(({ median, name, rounds }) => {
    const range = `${Math.round(Math.min(...rounds))} – ${Math.round(Math.max(...rounds))}`;
    return `  ${name.padEnd(48)} ${String(Math.round(median)).padStart(8)} ${result.unit}   (${range})`;
  });
  const ratios = Object.entries(result.ratios).map(([name, ratio]) => `  × ${ratio.toFixed(2)}  ${name}`);
  return [...rows, ...ratios].join('\n');
}

/** writeJson writes everything that was measured, the raw rounds included. */
export function writeJson(file: string, host: BenchHost, results: readonly CaseResult[]): void {
  const [cpu] = cpus();
  const machine = { cores: cpus().length, cpu: cpu?.model, memoryGiB: Math.round(totalmem() / 2 ** 30) };
  const report = { at: new Date().toISOString(), host: { ...machine, ...host }, results, settings: BENCH_SETTINGS };
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
}
