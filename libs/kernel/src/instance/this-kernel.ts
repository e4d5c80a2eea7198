import { dirname } from 'node:path';
import { claimKernel } from './kernel-claim.js';
import { KERNEL_VERSION } from './kernel-version.js';

// Loading this file is the claim. Below the folder of this file stand `dist` (or the sources) and the package; in a bundle it is the bundle's.
claimKernel({ path: dirname(dirname(__dirname)), version: KERNEL_VERSION });
