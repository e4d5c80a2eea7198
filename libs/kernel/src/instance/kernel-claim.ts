import { type KernelCopy, SecondKernelError } from '../errors/second-kernel.error.js';

/** The symbol is the same in every copy and every version: what is kept under it may be of another version than this. */
const CLAIM = Symbol.for('holdfast.kernel-copy');

/**
 * claimKernel makes a copy the only one of its process, or throws SecondKernelError (ADR 14).
 *
 * A copy is known by its path and version and not by its module, so that the same copy may be loaded any number of times: by `import` and
 * `require`, after a reset of the modules. What is no claim under the symbol is replaced.
 */
export function claimKernel(copy: KernelCopy, scope: object = globalThis): void {
  const slot = scope as { [CLAIM]?: unknown };
  const first = slot[CLAIM];
  if (isCopy(first) && (first.path !== copy.path || first.version !== copy.version))
    throw new SecondKernelError({ path: first.path, version: first.version }, copy);
  Object.defineProperty(slot, CLAIM, { configurable: true, value: Object.freeze({ ...copy }) });
}

function isCopy(value: unknown): value is KernelCopy {
  if (typeof value !== 'object' || value === null) return false;
  const { path, version } = value as Partial<Record<keyof KernelCopy, unknown>>;
  return typeof path === 'string' && typeof version === 'string';
}
