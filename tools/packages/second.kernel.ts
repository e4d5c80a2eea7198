import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from './command.js';
import type { SampleApplication } from './sample.application.js';

/** One copy loaded in both ways, then another from a library that brought its own. */
const PROGRAM = `
  import { createRequire } from 'node:module';
  const { Database } = await import('@holdfast/kernel');
  const requireFrom = (file) => createRequire(process.cwd() + file)('@holdfast/kernel');
  console.log(requireFrom('/main.js').Database === Database ? 'one copy' : 'two copies');
  requireFrom('/library/index.js');
`;

/** refusesSecondKernel rejects unless a second copy of the kernel is refused with both paths, and one copy is not. */
export async function refusesSecondKernel(application: SampleApplication): Promise<void> {
  const library = join(application.folder, 'library');
  const second = join(library, 'node_modules/@holdfast/kernel');
  const first = application.packageFolder('@holdfast/kernel');
  cpSync(first, second, { recursive: true });
  const { output, text } = await attempt(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    cwd: application.folder,
  });
  rmSync(library, { recursive: true });
  const said = [first, second].every((path) => text.includes(` at ${path}`)) && text.includes('SecondKernelError');
  if (output !== 'one copy\n' || !said) throw new Error(`A second copy of the kernel was not refused:\n${text}`);
}
