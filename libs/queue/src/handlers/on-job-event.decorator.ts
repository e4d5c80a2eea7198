import 'reflect-metadata';
import { type AnyJobDefinition, isJobDefinition } from '../domain/definition.js';
import { InvalidListenerError } from '../errors/invalid-listener.error.js';
import type { EventOf } from '../ports/queue.events.js';
import type { JobEvent } from '../ports/runner.events.js';
import { rememberDecorated } from './decorated.classes.js';
import { isListenable, type ListenableEvent, nearTo } from './listenable.events.js';

/** JobEventMetadata is what the decorator writes on a class, one for each event of a method. */
export interface JobEventMetadata {
  /** kind: only events about jobs of this kind; undefined is all. */
  readonly kind: string | undefined;
  readonly method: string | symbol;
  readonly type: ListenableEvent['type'];
}

/** JOB_EVENTS is where the metadata is; the explorer alone reads it. */
export const JOB_EVENTS = Symbol.for('holdfast.job-events');

type Listener<T extends ListenableEvent['type']> = (event: EventOf<T>) => unknown;

/** ListenerDecorator goes on a method that takes the event; one that takes another does not compile. */
type ListenerDecorator<T extends ListenableEvent['type']> = <Method extends Listener<T>>(
  target: object,
  name: string | symbol,
  method: TypedPropertyDescriptor<Method>,
) => void;

/**
 * OnJobEvent calls a method of a provider for every event of a type in this process, those about jobs also for one definition alone:
 * `@OnJobEvent('job.dead_lettered', DeliverWebhook)`.
 *
 * It is called after what the event tells is durable, outside every transaction, one event after the other. What it throws is reported as
 * `listener.failed` and hurts nothing else; while it is busy up to 1000 events wait, and `listener.behind` tells what was left out. Events are not
 * kept: what must not be missed is a job. Throws InvalidListenerError for what is no method, a name that no
 * event has, and a definition that is none.
 */
export function OnJobEvent<T extends ListenableEvent['type']>(type: T): ListenerDecorator<T>;
export function OnJobEvent<T extends JobEvent['type']>(type: T, definition: AnyJobDefinition): ListenerDecorator<T>;
export function OnJobEvent(
  type: ListenableEvent['type'],
  ...[definition, ...others]: AnyJobDefinition[]
): ListenerDecorator<never> {
  const narrowed = arguments.length > 1;
  return (target, method, descriptor) => {
    const isStatic = typeof target === 'function';
    const owner = isStatic ? target : target.constructor;
    const source = `${owner.name}.${String(method)}`;
    if (isStatic || typeof descriptor?.value !== 'function')
      throw new InvalidListenerError(source, 'it is no method of an instance');
    if (typeof type !== 'string') throw new InvalidListenerError(source, 'it names no event: the type comes first');
    if (!isListenable(type))
      throw new InvalidListenerError(source, `'${type as string}' is no event; there are ${nearTo(type).join(', ')}`);
    if (narrowed && !type.startsWith('job.'))
      throw new InvalidListenerError(source, `${type} is about no job, so it takes no definition`);
    if (others.length > 0 || (narrowed && !isJobDefinition(definition)))
      throw new InvalidListenerError(
        source,
        'beside the type it takes one definition: where it is undefined, two files import each other, so move the definitions to a file of their own',
      );
    const metadata: JobEventMetadata = { kind: definition?.kind, method, type };
    const present = (Reflect.getOwnMetadata(JOB_EVENTS, owner) ?? []) as readonly JobEventMetadata[];
    Reflect.defineMetadata(JOB_EVENTS, [...present, metadata], owner);
    rememberDecorated({ decorator: `@OnJobEvent('${type}')`, target: owner });
  };
}
