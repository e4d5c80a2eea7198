import type { SoakFindings } from './soak.ledger.js';
import type { MemorySample } from './worker.process.js';

/** FaultRecord is how often a fault was done, and the longest time until jobs flowed again after it. */
export interface FaultRecord {
  readonly count: number;
  readonly recovered: number;
  readonly worstMs: number;
}

/** SoakEvidence is everything that a soak is judged by. */
export interface SoakEvidence {
  readonly backendsLeft: number;
  /** drained is undefined when all was done within the deadline, else how much was left. */
  readonly drained: string | undefined;
  readonly faults: ReadonlyMap<string, FaultRecord>;
  readonly findings: SoakFindings;
  readonly idlePollers: readonly string[];
  /** memory is of the worker that is never ended. */
  readonly memory: readonly MemorySample[];
  readonly seconds: number;
  readonly unexpected: readonly string[];
}

const MEGABYTE = 1024 * 1024;
/** A worker is warm after this; what it allocates until then says nothing. */
const WARM_SECONDS = 20;
const DUTY_GAP_SECONDS = 90;

/** violations answers what did not hold, in words; none when all did. */
export function violations(evidence: SoakEvidence): string[] {
  const { findings } = evidence;
  const list = (what: string, found: readonly string[]) =>
    found.length === 0
      ? []
      : [`${what} (${found.length < 20 ? found.length : '20 or more'}): ${found.slice(0, 5).join('; ')}`];
  const memory = memoryGrowth(evidence.memory);
  const [unrecovered] = [[...evidence.faults].filter(([, { count, recovered }]) => recovered < count)];
  return [
    ...list('requests whose effects are not as many as they must be', findings.wrong),
    ...list('effects of requests that were rolled back', findings.ghosts),
    ...list('requests of a key that no run covers', findings.uncovered),
    ...list('detached jobs that never told their receiver', findings.unreceived),
    ...list('jobs that ended otherwise than they should', findings.misended),
    ...list('left live', findings.left),
    ...list('pollers that stand still', evidence.idlePollers),
    ...list('processes that ended by themselves', evidence.unexpected),
    ...list(
      'no job ran within a minute after',
      unrecovered.map(([name]) => name),
    ),
    ...(evidence.drained === undefined ? [] : [`not drained: ${evidence.drained}`]),
    ...(evidence.backendsLeft === 0 ? [] : [`${evidence.backendsLeft} connections left by workers that ended`]),
    ...(findings.duties >= evidence.seconds / 20
      ? []
      : [`${findings.duties} duties in ${evidence.seconds.toFixed(0)} s`]),
    ...(findings.dutyGapSeconds <= DUTY_GAP_SECONDS ? [] : [`${findings.dutyGapSeconds.toFixed(0)} s without a duty`]),
    ...(memory === undefined || memory.last <= memory.first * 1.25 + 30
      ? []
      : [`memory grew from ${memory.first.toFixed(0)} to ${memory.last.toFixed(0)} MB`]),
  ];
}

/** memoryGrowth answers the median of the first and of the last third, in MB; undefined for too few samples. */
export function memoryGrowth(samples: readonly MemorySample[]): { first: number; last: number } | undefined {
  const warm = samples.filter(({ uptime }) => uptime >= WARM_SECONDS).toSorted((a, b) => a.uptime - b.uptime);
  const third = Math.floor(warm.length / 3);
  if (third < 3) return undefined;
  return { first: median(warm.slice(0, third)), last: median(warm.slice(-third)) };
}

/** faultTable writes the faults as lines of text. */
export function faultTable(faults: ReadonlyMap<string, FaultRecord>): string {
  const rows = [...faults].map(([name, { count, recovered, worstMs }]) => [
    name,
    String(count),
    String(recovered),
    `${(worstMs / 1000).toFixed(1)} s`,
  ]);
  const all = [['fault', 'times', 'recovered', 'worst time until jobs flow'], ...rows];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function median(samples: readonly MemorySample[]): number {
  const sorted = samples.map(({ rss }) => rss / MEGABYTE).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}
