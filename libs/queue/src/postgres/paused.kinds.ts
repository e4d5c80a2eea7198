/**
 * PausedKinds remember which kinds are paused, as the last statement of a poll that reads them saw it (A1).
 *
 * A look for work reads them on the way, so that a pause costs no statement and no claim a join: what is claimed is filtered here.
 */
export class PausedKinds {
  /** listed are those of the last look, in their order; another array only where they have changed. */
  listed: readonly string[] = [];

  /** note takes what a look has read. */
  note(kinds: readonly string[]): void {
    const sorted = [...kinds].sort();
    if (sorted.join() !== this.listed.join()) this.listed = Object.freeze(sorted);
  }

  /** without answers the claims of kinds that are not paused. */
  without<T extends { readonly kind: string }>(claims: readonly T[]): readonly T[] {
    return this.listed.length === 0 ? claims : claims.filter(({ kind }) => !this.listed.includes(kind));
  }
}
