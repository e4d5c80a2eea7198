import { isJobDefinition } from '../domain/definition.js';
import { DuplicateHandlerError } from '../errors/duplicate-handler.error.js';
import { InvalidHandlerError } from '../errors/invalid-handler.error.js';
import { NotADefinitionError } from '../errors/not-a-definition.error.js';
import type { HandlerEntry } from './handler.entry.js';

const UNGROUPED =
  'its definition has groupCommit, which is for attached handlers, a job a call: leave out the one or the other (R21)';

/** JobHandlerRegistry knows the handler of each kind. It knows no Nest: the explorer, or a program without Nest, registers here. */
export class JobHandlerRegistry {
  /** warnings are what the start should say of handlers that were not found; the runner adds them to its own. */
  readonly warnings: string[] = [];
  private readonly entries = new Map<string, HandlerEntry>();
  private sealed = false;

  get kinds(): string[] {
    return [...this.entries.keys()];
  }

  find(kind: string): HandlerEntry | undefined {
    return this.entries.get(kind);
  }

  /**
   * register adds a handler. The same one twice is one; two for one kind throw DuplicateHandlerError. Throws NotADefinitionError without a
   * definition, and InvalidHandlerError for what comes after the start.
   */
  register(entry: HandlerEntry): void {
    const { definition, identity, source } = entry;
    if (!isJobDefinition(definition)) throw new NotADefinitionError(definition, 'was given a handler');
    if (definition.groupCommit && entry.mode !== 'attached') throw new InvalidHandlerError(source, UNGROUPED);
    const present = this.entries.get(definition.kind);
    if (present && present.identity === identity) return;
    if (this.sealed) throw new InvalidHandlerError(source, `name the handler of ${definition.kind} before start()`);
    if (present) throw new DuplicateHandlerError(definition.kind, [present.source, source]);
    this.entries.set(definition.kind, entry);
  }

  /** seal takes no handler from here on: the runner has read them. */
  seal(): void {
    this.sealed = true;
  }
}
