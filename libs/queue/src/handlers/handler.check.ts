import { InvalidHandlerError } from '../errors/invalid-handler.error.js';

/** HandlerMode is how a handler runs: a job in the runner's transaction, a job in its own, or many jobs in one of the runner's. */
export type HandlerMode = 'attached' | 'batch' | 'detached';

/** HandlerManner is how a handler runs; batchSize is there for batches alone. */
export interface HandlerManner {
  readonly batchSize?: number;
  readonly mode: HandlerMode;
}

/** MAX_BATCH_SIZE is the most jobs of a batch: their fence is one statement. */
export const MAX_BATCH_SIZE = 1_000;

const OPTIONS = ['batch', 'detached'];

/** checkRuns throws InvalidHandlerError for a handler that has no `run`, or, of a batch, no `runBatch`. */
export function checkRuns(handler: unknown, source: string, mode: HandlerMode = 'attached'): void {
  const [name, call] = mode === 'batch' ? (['runBatch', '(jobs, ctx)'] as const) : (['run', '(job, ctx)'] as const);
  if (typeof handler !== 'object' || typeof (handler as Record<string, unknown> | null)?.[name] !== 'function')
    throw new InvalidHandlerError(source, `it is no object with a function ${name}${call}`);
}

/** mannerOf answers how a handler runs. Throws InvalidHandlerError for an option that there is not: it would be a setting that quietly does nothing. */
export function mannerOf(handler: string, options: unknown): HandlerManner {
  if (options === undefined) return { mode: 'attached' };
  if (typeof options !== 'object' || options === null)
    throw new InvalidHandlerError(handler, 'its options must be an object: { detached: true }');
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined)
    throw new InvalidHandlerError(
      handler,
      `${unknown} is no option of a handler: there are { detached: true } and { batch: { size } }`,
    );
  const { batch, detached } = options as { batch?: unknown; detached?: unknown };
  if (detached !== undefined && typeof detached !== 'boolean')
    throw new InvalidHandlerError(handler, 'its option detached must be true, or left out');
  if (batch === undefined) return { mode: detached ? 'detached' : 'attached' };
  if (detached) throw new InvalidHandlerError(handler, 'a batch is one transaction of the runner: leave out detached');
  return { batchSize: sizeOf(handler, batch), mode: 'batch' };
}

function sizeOf(handler: string, batch: unknown): number {
  const { size, ...others } = (batch ?? {}) as { size?: unknown };
  if (typeof batch !== 'object' || batch === null || Object.keys(others).length > 0)
    throw new InvalidHandlerError(handler, 'its option batch must be { size }');
  if (!Number.isInteger(size) || (size as number) < 1 || (size as number) > MAX_BATCH_SIZE)
    throw new InvalidHandlerError(
      handler,
      `the size of its batches must be a whole number from 1 to ${MAX_BATCH_SIZE}`,
    );
  return size as number;
}
