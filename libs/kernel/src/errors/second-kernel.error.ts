import { HoldfastError } from './holdfast.error.js';

/** KernelCopy is one installed copy of this package: where its code stands, and its version. */
export interface KernelCopy {
  readonly path: string;
  readonly version: string;
}

/** SecondKernelError says that two copies of this package were loaded into one process, where a transaction of one is unknown to the other. */
export class SecondKernelError extends HoldfastError {
  constructor(
    readonly first: KernelCopy,
    readonly second: KernelCopy,
  ) {
    super(
      'kernel.second_copy',
      `Two copies of @holdfast/kernel are loaded in this process: ${first.version} at ${first.path}, and ${second.version} at ${second.path}. ` +
        'A job enqueued through one would not join the transaction of the other. `npm ls @holdfast/kernel` shows who brings each; ' +
        'give every package of Holdfast the same version and run `npm dedupe`, so that one copy is left at the top. ' +
        'A library of your own names @holdfast/kernel in its peerDependencies; a bundler keeps @holdfast/* external.',
    );
  }
}
