import { DuplicateHandlerError } from '../errors/duplicate-handler.error.js';
import { InvalidHandlerError } from '../errors/invalid-handler.error.js';
import { checkHandler } from './handler.check.js';
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
  private sealed = false;

  get kinds(): string[] {
    return [...this.entries.keys()];
  }

  find(kind: string): HandlerEntry | undefined {
    return this.entries.get(kind);
  }

  /**
   * register adds a handler. The same instance twice is one; two for one kind throw DuplicateHandlerError. Throws NotADefinitionError without a
   * definition, and InvalidHandlerError for what has no `run` or comes after the start.
   */
  register(entry: HandlerEntry): void {
    checkHandler(entry);
    if (this.sealed)
      throw new InvalidHandlerError(entry.source, `name the handler of ${entry.definition.kind} before start()`);
    const present = this.entries.get(entry.definition.kind);
    if (present && present.handler === entry.handler) return;
    if (present) throw new DuplicateHandlerError(entry.definition.kind, [present.source, entry.source]);
    this.entries.set(entry.definition.kind, entry);
  }

  /** seal takes no handler from here on: the runner has read them. */
  seal(): void {
    this.sealed = true;
  }
}
