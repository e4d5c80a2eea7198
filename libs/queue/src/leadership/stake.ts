/** Stake is what a session holds a name for. */
export interface Stake {
  readonly key: number;
  readonly name: string;
  readonly tickMs: number;
  /** lost is called when the session is lost while it holds the name. */
  lost(reason: Error): void;
  /** wanted is false once the name has been given up: then it is not taken any more. */
  readonly wanted: boolean;
}
