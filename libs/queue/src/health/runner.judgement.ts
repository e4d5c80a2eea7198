import type { KindDepth } from '../ports/job-store.js';
import type { RunnerVitals, StageTrouble } from '../ports/runner.vitals.js';
import type { HealthFinding } from './health.indicator.js';
import { problemIn } from './problem.words.js';

/** Without these stages no job is found; without the others the runner still works. */
const VITAL = new Set<StageTrouble['stage']>(['claim', 'endings', 'intake', 'pass']);
/** A stage is in trouble for good after so many failures in a row, or so long: one lost connection is nobody's business. */
const FAILURES = 3;
const FAILING_FOR_MS = 10_000;
/** Every statement of a pass ends by its deadline of ten seconds: a loop that has not moved for longer than its poll and this is stuck. */
const STUCK_AFTER_MS = 30_000;
const MINUTE_MS = 60_000;
/** From here on a commit notifies nobody. */
const FULL_QUEUE = 0.5;

/** RunnerSigns are what a runner is judged by. */
export interface RunnerSigns {
  /** backlogMs is the age from which on due jobs are a backlog. */
  readonly backlogMs: number;
  /** depth of the kinds that it runs; undefined where nothing is known. */
  readonly depth: readonly KindDepth[] | undefined;
  readonly now: number;
  readonly vitals: RunnerVitals;
}

/** judgeRunner: down is who cannot claim; a runner whose slots are all taken is busy and well (K143). */
export function judgeRunner(signs: RunnerSigns): HealthFinding {
  const { depth, now, vitals } = signs;
  const { kinds, paused } = vitals;
  // What is paused waits because somebody wants it to.
  const oldest = oldestOf(
    depth,
    kinds.filter((kind) => !paused.includes(kind)),
  );
  const details = {
    lastPassMsAgo: vitals.lastPassAt === undefined ? null : Math.round(now - vitals.lastPassAt),
    ...(oldest ? { oldestDueMs: Math.round(oldest.oldestDueAgeMs) } : {}),
    ...(paused.length > 0 ? { paused: [...paused] } : {}),
    running: vitals.running,
    slots: vitals.slots,
  };
  const failure = failureOf(vitals, now);
  if (failure !== undefined) return { details, message: failure, status: 'down' };
  const worries = [...impairmentsOf(vitals, now), ...deafnessOf(vitals, now), ...backlogOf(oldest, signs.backlogMs)];
  if (worries.length > 0) return { details, message: worries.join(' '), status: 'degraded' };
  return { details, status: 'up' };
}

function backlogOf(oldest: KindDepth | undefined, backlogMs: number): string[] {
  if (!oldest || oldest.oldestDueAgeMs <= backlogMs) return [];
  const minutes = Math.floor(oldest.oldestDueAgeMs / MINUTE_MS);
  const age = minutes > 0 ? `${minutes} min` : `${Math.round(oldest.oldestDueAgeMs / 1_000)} s`;
  return [`Jobs of the kind ${oldest.kind} have been due for ${age}.`];
}

/** What is not heard is found by the poll: work is late, not lost (K96, K105). */
function deafnessOf({ pollMs, waking }: RunnerVitals, now: number): string[] {
  if (!waking) return [];
  const usage = waking.queueUsage ?? 0;
  if (waking.state === 'listening') return usage < FULL_QUEUE ? [] : [fullQueue(usage, pollMs)];
  if (now - waking.since < FAILING_FOR_MS) return [];
  const why = waking.error === undefined ? 'the listener is still being opened' : problemIn(waking.error);
  return [`No notifications arrive, work is found by polling every ${pollMs} ms: ${why}.`];
}

function fullQueue(usage: number, pollMs: number): string {
  const percent = Math.round(usage * 100);
  const who = 'some session of this server listens and does not read, such as one that stays in a transaction';
  return `The server's notification queue is ${percent} % full: ${who}. Nobody is notified meanwhile, work is found by polling every ${pollMs} ms.`;
}

function failureOf(vitals: RunnerVitals, now: number): string | undefined {
  if (vitals.state === 'idle') return 'The runner has not been started.';
  if (vitals.state === 'draining') return 'The runner is draining: it claims nothing more.';
  if (vitals.state === 'stopped') return 'The runner has stopped.';
  const stillMs = now - vitals.lastStepAt;
  if (stillMs > vitals.pollMs + STUCK_AFTER_MS)
    return `The runner's loop is stuck: it has not moved for ${Math.round(stillMs / 1_000)} s.`;
  const trouble = lastingOf(vitals, now).find(({ stage }) => VITAL.has(stage));
  return trouble && `The runner cannot look for work: ${told(trouble)}.`;
}

function impairmentsOf(vitals: RunnerVitals, now: number): string[] {
  return lastingOf(vitals, now).map((trouble) => `The runner is impaired: ${told(trouble)}.`);
}

function lastingOf({ troubles }: RunnerVitals, now: number): StageTrouble[] {
  return troubles.filter(({ failures, since }) => failures >= FAILURES || now - since >= FAILING_FOR_MS);
}

function oldestOf(depth: readonly KindDepth[] | undefined, kinds: readonly string[]): KindDepth | undefined {
  const due = (depth ?? []).filter((kind) => kind.due > 0 && kinds.includes(kind.kind));
  return due.reduce<KindDepth | undefined>(
    (oldest, kind) => (oldest && oldest.oldestDueAgeMs >= kind.oldestDueAgeMs ? oldest : kind),
    undefined,
  );
}

function told({ error, failures, stage }: StageTrouble): string {
  if (stage === 'pass') return `its loop has failed ${failures} times in a row; the log says how`;
  return `${stage} has failed ${failures} times in a row: ${problemIn(error)}`;
}
