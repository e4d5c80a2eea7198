import type { Job } from '../domain/job.js';
import { checkRuns } from './handler.check.js';
import type { AnyJobDefinition, AttachedHandler, BatchHandler, DetachedHandler } from './handler.interface.js';

/** HandlerEntry is the handler of a definition, how it is had for a job, and the place it comes from. */
export type HandlerEntry = {
  readonly definition: AnyJobDefinition;
  /** identity is what makes two entries of a definition one: the instance, or whatever makes an instance for each job. */
  readonly identity: unknown;
  /** source names the class and its module for messages. */
  readonly source: string;
} & (BatchResolution | HandlerResolution<'attached', AttachedHandler> | HandlerResolution<'detached', DetachedHandler>);

/** BatchResolution says how the handler of batches is had: one instance runs them all. */
export interface BatchResolution {
  /** batchSize is the most jobs of one call. */
  readonly batchSize: number;
  readonly mode: 'batch';
  resolve(): BatchHandler;
}

/** HandlerResolution says how a handler is had. */
export interface HandlerResolution<Mode, Handler> {
  readonly mode: Mode;
  /** resolve answers the handler of one call; what it throws is the attempt's failure. */
  resolve(job: Job<never>): Handler | Promise<Handler>;
}

/** GivenHandler is one instance that runs every job of a definition. */
export type GivenHandler = Pick<HandlerEntry, 'definition' | 'source'> &
  (
    | { readonly handler: AttachedHandler; readonly mode: 'attached' }
    | { readonly batchSize: number; readonly handler: BatchHandler; readonly mode: 'batch' }
    | { readonly handler: DetachedHandler; readonly mode: 'detached' }
  );

/** handlerEntry makes an entry of an instance that is at hand. Throws InvalidHandlerError for what has no `run`, or no `runBatch` for batches. */
export function handlerEntry({ handler, ...given }: GivenHandler): HandlerEntry {
  checkRuns(handler, given.source, given.mode);
  return { ...given, identity: handler, resolve: () => handler } as HandlerEntry;
}
