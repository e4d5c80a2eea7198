import type { Retention } from '../domain/retention.js';

/** RunnerPresence is a runner that is there, and what it runs. */
export interface RunnerPresence {
  /** id is a UUID, new at each start of a runner. */
  readonly id: string;
  readonly kinds: readonly string[];
  readonly owner: string;
}

/** DeclaredRetention is what the definition of a kind says of how long its finished jobs are kept; nothing where it says nothing. */
export interface DeclaredRetention {
  readonly keep: Readonly<Partial<Retention>>;
  readonly kind: string;
}

/** RunnerRoster is the port to the runners that are there: what nobody handles is found by it (S6). */
export abstract class RunnerRoster {
  /** announce says that a runner is there, and again every 15 s. */
  abstract announce(presence: RunnerPresence): Promise<void>;

  /** declare writes down what the definitions of a runner say of retention, for the leader, which may not have them; it replaces what was there for these kinds (S5). */
  abstract declare(retentions: readonly DeclaredRetention[]): Promise<void>;

  /** handledKinds answers the kinds that runners which are there run. */
  abstract handledKinds(): Promise<string[]>;

  /** sweep takes away the rows of runners that vanished long ago. */
  abstract sweep(): Promise<number>;

  /** unhandledKinds answers the kinds of live jobs that no runner which is there runs; bounded. */
  abstract unhandledKinds(): Promise<string[]>;

  /** withdraw says that a runner has stopped. */
  abstract withdraw(id: string): Promise<void>;
}
