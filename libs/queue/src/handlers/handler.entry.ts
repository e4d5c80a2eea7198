import type { Job } from '../domain/job.js';
import { checkRuns } from './handler.check.js';
import type { AnyJobDefinition, AttachedHandler, DetachedHandler } from './handler.interface.js';

/** HandlerEntry is the handler of a definition, how it is had for a job, and the place it comes from. */
export type HandlerEntry = {
  readonly definition: AnyJobDefinition;
  /** identity is what makes two entries of a definition one: the instance, or whatever makes an instance for each job. */
  readonly identity: unknown;
  /** source names the class and its module for messages. */
  readonly source: string;
} & (HandlerResolution<'attached', AttachedHandler> | HandlerResolution<'detached', DetachedHandler>);

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
    | { readonly handler: DetachedHandler; readonly mode: 'detached' }
  );

/** handlerEntry makes an entry of an instance that is at hand. Throws InvalidHandlerError for what has no `run`. */
export function handlerEntry({ definition, handler, mode, source }: GivenHandler): HandlerEntry {
  checkRuns(handler, source);
  return { definition, identity: handler, mode, resolve: () => handler, source } as HandlerEntry;
}
