import { InvalidQueueOptionsError } from '../errors/invalid-queue-options.error.js';

/** HealthStatus: `up`, `degraded` (it works, and somebody should look), or `down` (it cannot work). */
export type HealthStatus = 'degraded' | 'down' | 'up';

/** HealthFinding is what an indicator found, before it is put under a key. */
export interface HealthFinding {
  /** details are numbers and names for whoever looks; never a payload, an address or a secret. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** message says what is wrong, in words; undefined when nothing is. */
  readonly message?: string | undefined;
  readonly status: HealthStatus;
}

/** HealthResult is what `@nestjs/terminus` expects of an indicator: the status under the key, with whatever else there is to say. */
export type HealthResult<Key extends string = string, Status extends HealthStatus = HealthStatus> = Record<
  Key,
  { status: Status; message?: string } & Record<string, unknown>
>;

/** HealthCheckOptions are what every check takes. */
export interface HealthCheckOptions<DegradedAs extends 'degraded' | 'up' = 'degraded' | 'up'> {
  /**
   * degradedAs: `'up'` answers `up` with `degraded: true` beside the message: terminus 11 knows no third status and would leave the key out.
   * Default `'degraded'`, as terminus 12 has it.
   */
  readonly degradedAs?: DegradedAs;
  /** timeoutMs bounds the check, whatever the database does. From 1 to 60 000; default 800: within the second that Kubernetes gives a probe. */
  readonly timeoutMs?: number;
}

export const DEFAULT_TIMEOUT_MS = 800;
const MAX_TIMEOUT_MS = 60_000;

/** HealthIndicator answers a check within its timeout, and never rejects because of what it found; with InvalidQueueOptionsError for options that are wrong. */
export abstract class HealthIndicator<Options extends HealthCheckOptions = HealthCheckOptions> {
  /** check answers the status under `key`. Give terminus 11 `degradedAs: 'up'`, so that types and statuses are the two it knows. */
  check<const Key extends string>(
    key: Key,
    options: Options & { readonly degradedAs: 'up' },
  ): Promise<HealthResult<Key, 'down' | 'up'>>;
  check<const Key extends string>(key: Key, options?: Options): Promise<HealthResult<Key>>;
  async check(key: string, options?: Options): Promise<HealthResult> {
    const { timeoutMs = DEFAULT_TIMEOUT_MS, degradedAs = 'degraded' } = options ?? {};
    checkOptions(timeoutMs, degradedAs);
    const { details, message, status } = await this.look(timeoutMs, options);
    const said = { ...details, ...(message === undefined ? {} : { message }) };
    if (status !== 'degraded' || degradedAs === 'degraded') return { [key]: { ...said, status } };
    return { [key]: { ...said, degraded: true, status: 'up' } };
  }

  protected abstract look(timeoutMs: number, options: Options | undefined): Promise<HealthFinding>;
}

function checkOptions(timeoutMs: unknown, degradedAs: unknown): void {
  const problems: string[] = [];
  if (!(typeof timeoutMs === 'number' && timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS))
    problems.push(`timeoutMs must be a number of milliseconds from 1 to ${MAX_TIMEOUT_MS}`);
  if (degradedAs !== 'degraded' && degradedAs !== 'up') problems.push("degradedAs must be 'degraded' or 'up'");
  if (problems.length > 0) throw new InvalidQueueOptionsError(problems);
}
