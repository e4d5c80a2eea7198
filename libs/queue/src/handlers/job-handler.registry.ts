import { DuplicateHandlerError } from '../errors/duplicate-handler.error.js';
import type { AnyJobDefinition, AttachedHandler, DetachedHandler } from './handler.interface.js';

/** HandlerEntry is one handler with its definition and the place it comes from. */
export type HandlerEntry = {
  readonly definition: AnyJobDefinition;
  /** source names the class and its module for messages. */
  readonly source: string;
} & (
  | { readonly mode: 'attached'; readonly handler: AttachedHandler }
  | { readonly mode: 'detached'; readonly handler: DetachedHandler }
);

/** JobHandlerRegistry knows the handler of each kind. It knows no Nest: the explorer, or a program without Nest, registers here. */
export class JobHandlerRegistry {
  private readonly entries = new Map<string, HandlerEntry>();

  get kinds(): string[] {
    return [...this.entries.keys()];
  }

  find(kind: string): HandlerEntry | undefined {
    return this.entries.get(kind);
  }

  /** register adds a handler. The same instance twice is one; two for one kind throw DuplicateHandlerError. */
  register(entry: HandlerEntry): void {
    const present = this.entries.get(entry.definition.kind);
    if (present && present.handler === entry.handler) return;
    if (present) throw new DuplicateHandlerError(entry.definition.kind, [present.source, entry.source]);
    this.entries.set(entry.definition.kind, entry);
  }
}
