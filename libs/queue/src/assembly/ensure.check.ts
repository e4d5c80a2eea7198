import { isJobDefinition } from '../domain/definition.js';
import type { JobRequest } from '../domain/request.js';
import type { QueueOptions } from './queue.options.js';

/** problemsOfEnsure answers what is wrong with the jobs that must exist, as far as it can be told without their payloads' schemas. */
export function problemsOfEnsure({ ensure, tenancy }: QueueOptions): string[] {
  if (!Array.isArray(ensure)) return [];
  const places = new Map<string, number>();
  const tenants = typeof tenancy === 'object';
  return (ensure as readonly unknown[]).flatMap((request, place) =>
    isRequest(request)
      ? problemsOf(request, place, places, tenants)
      : [`ensure[${place}] is no request: write definition.request(payload, { dedupeKey })`],
  );
}

function isRequest(value: unknown): value is JobRequest {
  const { definition, options } = (value ?? {}) as Partial<JobRequest>;
  return isJobDefinition(definition) && typeof options === 'object' && options !== null;
}

function problemsOf(
  { definition: { kind }, options }: JobRequest,
  place: number,
  places: Map<string, number>,
  tenants: boolean,
): string[] {
  const { dedupeKey, onDuplicate, tenantId } = options;
  const name = `ensure[${place}] (${kind})`;
  const problems: string[] = [];
  if (dedupeKey === undefined) problems.push(`${name} has no dedupeKey: every start would add one more`);
  if (onDuplicate !== undefined) problems.push(`${name} has onDuplicate, but a live job stays as it is`);
  if (typeof tenantId === 'string' && !tenants) problems.push(`${name} names a tenant while tenancy is off`);
  const key = JSON.stringify([kind, tenantId ?? null, dedupeKey]);
  const other = places.get(key);
  if (other === undefined) places.set(key, place);
  else if (dedupeKey !== undefined) problems.push(`${name} has the key of ensure[${other}]`);
  return problems;
}
