import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { InvalidListenerError } from '../errors/invalid-listener.error.js';
import type { QueueEvent } from '../ports/queue.events.js';
import type { ListenerEntry } from './event.mailbox.js';
import type { Explored } from './explored.js';
import { classesOf, marksAlong, type NestProvider, sourceOf } from './nest.provider.js';
import { foundOnce } from './nest.singletons.js';
import { JOB_EVENTS, type JobEventMetadata } from './on-job-event.decorator.js';

/** JobEventExplorer finds the methods that `@OnJobEvent` marked, and answers data; it registers nothing. */
@Injectable()
export class JobEventExplorer {
  constructor(private readonly discovery: DiscoveryService) {}

  /** explore answers every listener once, and an InvalidListenerError for each whose class is no singleton, is misplaced or is there twice. */
  explore(): Explored<ListenerEntry> {
    const { mistakes, singletons } = foundOnce(this.discovery, JOB_EVENTS);
    return {
      entries: singletons.flatMap(listenersOf),
      mistakes: mistakes.map(({ reason, source }) => new InvalidListenerError(source, reason)),
    };
  }
}

function listenersOf(provider: NestProvider): ListenerEntry[] {
  const instance = provider.instance as Record<string | symbol, unknown>;
  const marked = classesOf(provider).find((candidate) => Reflect.hasMetadata(JOB_EVENTS, candidate));
  // What replaces a listener in a test need not listen.
  return marksAlong(marked, JOB_EVENTS, sameMark)
    .filter(({ method }) => typeof instance[method] === 'function')
    .map(({ kind, method, type }) => ({
      call: (event: QueueEvent) => (instance[method] as (event: QueueEvent) => unknown)(event),
      identity: instance,
      kind,
      source: `${String(method)} of ${sourceOf(provider)}`,
      type,
    }));
}

function sameMark(one: JobEventMetadata, other: JobEventMetadata): boolean {
  return one.kind === other.kind && one.method === other.method && one.type === other.type;
}
