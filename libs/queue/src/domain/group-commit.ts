import { parseDuration } from '@holdfast/kernel/pure';

/** GroupCommitOptions say how many small attached jobs of a kind share a transaction, and with it its COMMIT (R21). */
export interface GroupCommitOptions {
  /** delay is how long a group waits for more members, at most `'1s'`. Default none: what is at hand goes together. */
  readonly delay?: string;
  /** size is the most members of a group, 1 to 32. */
  readonly size: number;
}

/** GroupCommit is a group commit with its defaults. */
export interface GroupCommit {
  readonly delayMs: number;
  readonly size: number;
}

const MAX_GROUP_SIZE = 32;
const MAX_DELAY_MS = 1_000;
const NAMES: readonly string[] = ['delay', 'size'];

/** groupCommitOf fills in the defaults of options that have been checked. */
export function groupCommitOf(options: GroupCommitOptions | undefined): GroupCommit | null {
  return options ? Object.freeze({ delayMs: parseDuration(options.delay ?? '0ms'), size: options.size }) : null;
}

/** problemOfGroupCommit answers what is wrong with a group commit, or undefined. */
export function problemOfGroupCommit(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return `must be an object: { size: ${MAX_GROUP_SIZE} }`;
  const unknown = Object.keys(value).find((name) => !NAMES.includes(name));
  if (unknown !== undefined) return `has no option ${unknown}: there are size and delay`;
  const { delay, size } = value as Partial<GroupCommitOptions>;
  if (!Number.isInteger(size) || size! < 1 || size! > MAX_GROUP_SIZE)
    return `must have a size that is a whole number from 1 to ${MAX_GROUP_SIZE}`;
  return delay === undefined || isDelay(delay) ? undefined : "must have a delay of '0ms' to '1s'";
}

function isDelay(delay: string): boolean {
  try {
    return parseDuration(delay) <= MAX_DELAY_MS;
  } catch {
    return false;
  }
}
