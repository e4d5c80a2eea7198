import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, join, resolve } from 'node:path';
import type { MatrixCell } from './matrix.cell.js';
import { nodeFolder } from './node.release.js';

const ROOT = resolve(__dirname, '../..');

/** The major versions of Node that the suite must pass on. */
const NODES = ['20', '24'];

/** suiteCells run the whole suite: one cell for each combination of what it runs on. */
export const suiteCells: readonly MatrixCell[] = NODES.map((node) => ({
  alone: true,
  axes: { check: 'suite', node },
  run: () => runSuite(node),
}));

/** The version's folder leads the PATH, so that every program the tests start, npm too, runs on it. */
async function runSuite(node: string): Promise<string> {
  const folder = await nodeFolder(node);
  const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH ?? ''}` };
  const jest = [join(ROOT, 'node_modules/jest/bin/jest.js'), '--ci'];
  const child = spawn(join(folder, 'node'), jest, { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`The suite failed on Node ${node}.`);
  return 'passed';
}
