import 'reflect-metadata';
import { type AnyJobDefinition, isJobDefinition } from '../domain/definition.js';
import { InvalidHandlerError } from '../errors/invalid-handler.error.js';
import { rememberDecorated } from './decorated.classes.js';
import { type HandlerManner, mannerOf } from './handler.check.js';
import type { AttachedHandler, BatchHandler, DetachedHandler } from './handler.interface.js';

/** JobHandlerOptions say how a handler runs. */
export interface JobHandlerOptions {
  /** detached: the handler owns its transactions, because it reaches outside the database (R7). */
  readonly detached: true;
}

/** BatchHandlerOptions say that a handler runs many jobs in one call (R21). */
export interface BatchHandlerOptions {
  /** batch: size is the most jobs of one call, 1 to 1 000; it gets those that wait. */
  readonly batch: { readonly size: number };
}

/** JobHandlerMetadata is what the decorator writes on a class, one for each definition that it handles. */
export interface JobHandlerMetadata extends HandlerManner {
  readonly definition: AnyJobDefinition;
}

/** JOB_HANDLER is where the metadata is; the explorer alone reads it. */
export const JOB_HANDLER = Symbol.for('holdfast.job-handler');

/** An abstract class is no handler: Nest could not make one. */
type ClassOf<Handler> = new (...args: never[]) => Handler;

/**
 * JobHandler makes a provider the handler of a definition: `@JobHandler(RenderInvoice)`, `@JobHandler(DeliverWebhook, { detached: true })`, or, for many jobs
 * in one call, `@JobHandler(CountVisit, { batch: { size: 100 } })`.
 *
 * A class whose context does not fit its mode, or whose payload is another definition's, does not compile. Throws InvalidHandlerError for
 * a definition that is still undefined because two files import each other, and for an option that there is not.
 */
export function JobHandler<D extends AnyJobDefinition>(definition: D): (target: ClassOf<AttachedHandler<D>>) => void;
export function JobHandler<D extends AnyJobDefinition>(
  definition: D,
  options: JobHandlerOptions,
): (target: ClassOf<DetachedHandler<D>>) => void;
export function JobHandler<D extends AnyJobDefinition>(
  definition: D,
  options: BatchHandlerOptions,
): (target: ClassOf<BatchHandler<D>>) => void;
export function JobHandler(
  definition: AnyJobDefinition,
  options?: BatchHandlerOptions | JobHandlerOptions,
): (target: ClassOf<unknown>) => void {
  return (target) => {
    if (!isJobDefinition(definition)) {
      throw new InvalidHandlerError(
        target.name,
        'its definition is not there: where it is undefined, two files import each other, so move the definitions to a file of their own',
      );
    }
    const metadata: JobHandlerMetadata = { definition, ...mannerOf(target.name, options) };
    const present = (Reflect.getOwnMetadata(JOB_HANDLER, target) ?? []) as readonly JobHandlerMetadata[];
    if (present.some(({ definition: { kind } }) => kind === definition.kind)) {
      throw new InvalidHandlerError(target.name, `it is marked twice for the kind ${definition.kind}`);
    }
    Reflect.defineMetadata(JOB_HANDLER, [...present, metadata], target);
    rememberDecorated({ decorator: `@JobHandler(${definition.kind})`, kind: definition.kind, target });
  };
}
