import { Problem } from './problem.js';

/** Unauthorized is the answer to whoever is not let in: 401, and how to be. */
export class Unauthorized extends Problem {
  constructor(detail: string) {
    super(401, detail);
  }
}
