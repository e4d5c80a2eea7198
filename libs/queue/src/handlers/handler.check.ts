import { InvalidHandlerError } from '../errors/invalid-handler.error.js';

/** checkRuns throws InvalidHandlerError for a handler that has no `run`. */
export function checkRuns(handler: unknown, source: string): void {
  if (typeof handler !== 'object' || typeof (handler as { run?: unknown } | null)?.run !== 'function')
    throw new InvalidHandlerError(source, 'it is no object with a function run(job, ctx)');
}

/** modeOf answers how a handler runs. Throws InvalidHandlerError for an option that there is not: it would be a setting that quietly does nothing. */
export function modeOf(handler: string, options: unknown): 'attached' | 'detached' {
  if (options === undefined) return 'attached';
  if (typeof options !== 'object' || options === null)
    throw new InvalidHandlerError(handler, 'its options must be an object: { detached: true }');
  const [unknown] = Object.keys(options).filter((name) => name !== 'detached');
  if (unknown !== undefined)
    throw new InvalidHandlerError(
      handler,
      `${unknown} is no option of a handler: { detached: true } is the one there is`,
    );
  const { detached } = options as { detached?: unknown };
  if (detached !== undefined && typeof detached !== 'boolean')
    throw new InvalidHandlerError(handler, 'its option detached must be true, or left out');
  return detached ? 'detached' : 'attached';
}
