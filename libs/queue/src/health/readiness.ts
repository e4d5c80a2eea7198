import { withDeadline } from '@holdfast/kernel';
import type { HealthResult } from './health.indicator.js';

/** HealthCheck answers statuses, each under its own key. */
export type HealthCheck = () => HealthResult | Promise<HealthResult>;

/** Readiness is the sum of several checks, in the shape that terminus answers. */
export interface Readiness {
  /** details are all statuses, by key. */
  readonly details: HealthResult;
  /** error are those that are down, */
  readonly error: HealthResult;
  /** info those that are not. */
  readonly info: HealthResult;
  readonly status: 'degraded' | 'error' | 'ok';
}

/** ReadinessOptions bound the checks. */
export interface ReadinessOptions {
  /** onError is told what a check threw or rejected with. */
  readonly onError: (key: string, error: unknown) => void;
  /** withinMs bounds all checks together; one that has not answered by then is down. */
  readonly withinMs: number;
}

/** readinessOf asks all checks at once, each known by a key, and answers within the deadline, whatever they do. It never rejects. */
export async function readinessOf(
  checks: Readonly<Record<string, HealthCheck>>,
  { onError, withinMs }: ReadinessOptions,
): Promise<Readiness> {
  const ask = async (key: string, check: HealthCheck): Promise<HealthResult> => {
    const down = (message: string): HealthResult => ({ [key]: { message, status: 'down' } });
    const answer = (async () => check())().catch((error: unknown) => {
      onError(key, error);
      return down('The check itself failed; the log says how.');
    });
    const late = () => down(`No answer within ${withinMs} ms.`);
    return withDeadline(answer, withinMs, () => new Error('late')).catch(late);
  };
  const results = await Promise.all(Object.entries(checks).map(([key, check]) => ask(key, check)));
  const all = results.flatMap((result) => Object.entries(result));
  const part = (wanted: (status: string) => boolean): HealthResult =>
    Object.fromEntries(all.filter(([, { status }]) => wanted(status)));
  const error = part((status) => status === 'down');
  const degraded = all.some(([, { status }]) => status === 'degraded');
  const status = Object.keys(error).length > 0 ? 'error' : degraded ? 'degraded' : 'ok';
  return { details: part(() => true), error, info: part((other) => other !== 'down'), status };
}
