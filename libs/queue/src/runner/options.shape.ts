import { unstorable } from '../domain/text.js';
import type { KindOverrides, LeaseOptions, RunnerOptions } from './runner.options.js';

type Names<T> = Readonly<Record<keyof T, true>>;

const OPTIONS: Names<RunnerOptions> = {
  abortWaitMs: true,
  cancelEveryMs: true,
  classifyError: true,
  errorDetail: true,
  except: true,
  graceMs: true,
  intakeGapMs: true,
  kinds: true,
  leases: true,
  only: true,
  overrunMs: true,
  owner: true,
  pollMs: true,
  quiesceMs: true,
  slots: true,
  tenancy: true,
};
const LEASES: Names<LeaseOptions> = { attachedMarginMs: true, boundMarginMs: true, detachedMs: true };
const OVERRIDES: Names<KindOverrides> = { backoff: true, concurrency: true, maxAttempts: true, timeout: true };
const MAX_OWNER_LENGTH = 200;

/** shapeProblems answers what is wrong with the options before any value is read: a name that is no option would be a setting that quietly does nothing. */
export function shapeProblems(options: RunnerOptions): string[] {
  const { except, kinds = {}, leases = {}, only, owner } = options;
  const problems = [...unknownNames('', options, OPTIONS), ...unknownNames('leases.', leases, LEASES)];
  for (const [name, list] of Object.entries({ except, only }))
    if (list !== undefined && !isListOfTexts(list)) problems.push(`${name} must be a list of kinds`);
  for (const [kind, overrides] of Object.entries(kinds))
    problems.push(...unknownNames(`kinds.${kind}.`, overrides, OVERRIDES, 'a kind'));
  if (owner !== undefined && !isOwner(owner))
    problems.push(`owner must be a text of 1 to ${MAX_OWNER_LENGTH} characters, without U+0000 and lone surrogates`);
  return problems;
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isOwner(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value.length <= MAX_OWNER_LENGTH && !unstorable(value);
}

function unknownNames(path: string, given: unknown, known: object, whose = 'a runner'): string[] {
  if (typeof given !== 'object' || given === null) return [`${path.slice(0, -1)} must be an object`];
  return Object.keys(given)
    .filter((name) => !Object.hasOwn(known, name))
    .map((name) => `${path}${name} is no option of ${whose}`);
}
