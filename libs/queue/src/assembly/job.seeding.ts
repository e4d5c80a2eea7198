import { encodeRequest, type EncodedRequest, type JobRequest } from '../domain/request.js';
import { RefusedRequestError } from '../errors/refused-request.error.js';
import type { JobStore } from '../ports/job-store.js';
import type { ResolvedQueueOptions } from './queue.options.js';

/**
 * seedJobs sees to it that the jobs of the option `ensure` exist: it answers how many it had to write.
 *
 * Any number of processes may do so at once. Throws a RefusedRequestError with the place of a request that cannot be stored.
 */
export async function seedJobs(options: ResolvedQueueOptions, store: JobStore): Promise<number> {
  const { ensure } = options;
  if (ensure.length === 0) return 0;
  const encoded: EncodedRequest[] = [];
  for (const [index, request] of ensure.entries()) encoded.push(await encodeAt(index, request, options));
  return store.ensure(encoded);
}

async function encodeAt(
  index: number,
  request: JobRequest,
  { kinds, payloadLimitBytes, tenantSetting }: ResolvedQueueOptions,
): Promise<EncodedRequest> {
  const { kind } = request.definition;
  const maxAttempts = Object.hasOwn(kinds, kind) ? kinds[kind]?.maxAttempts : undefined;
  const tenancy = tenantSetting !== undefined;
  try {
    return await encodeRequest(request, { maxAttempts, payloadLimitBytes, tenancy, tenantId: null });
  } catch (error) {
    throw error instanceof RefusedRequestError ? error.at(index) : error;
  }
}
