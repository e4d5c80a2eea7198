import { Injectable } from '@nestjs/common';
import type { DecoratedClass } from './decorated.classes.js';
import { DecoratedExplorer } from './decorated.explorer.js';

/** UnprovidedClasses names the marked classes that no module provides: what a start warns of. */
@Injectable()
export class UnprovidedClasses {
  constructor(private readonly decorated: DecoratedExplorer) {}

  /** names answers those that `concern` the caller, each with its decorator. */
  names(concern: (found: DecoratedClass) => boolean): string[] {
    return this.decorated
      .unprovided()
      .filter(concern)
      .map(({ decorator, target }) => `${target.name} ${decorator}`);
  }

  /** warn adds the warning that names them, where there are any, and once. */
  warn(names: readonly string[], warnings: string[]): void {
    if (names.length === 0) return;
    const text = `Marked, and provided by no module: ${names.join(', ')}. List what this process is to use under providers.`;
    if (!warnings.includes(text)) warnings.push(text);
  }
}
