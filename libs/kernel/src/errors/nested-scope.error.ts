import { HoldfastError } from './holdfast.error.js';

/** NestedScopeError says that a nested unit of work asked for what only the outermost one can decide. */
export class NestedScopeError extends HoldfastError {
  constructor(readonly asked: string) {
    super(
      'kernel.nested_scope',
      `A nested unit of work joins the open one and cannot ask for ${asked}: ask at the outermost unit of work.`,
    );
  }
}
