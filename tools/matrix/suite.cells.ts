import { delimiter, join } from 'node:path';
import type { MatrixCell } from './matrix.cell.js';
import { nodeFolder } from './node.release.js';
import { runJest } from './suite.run.js';

/** The major versions of Node that the suite must pass on. */
const NODES = ['20', '24'];

/**
 * What says little about Node: SQL and its plans, what lint and documents hold, and whole stacks whose parts have tests of their own. `tests=short`
 * leaves it out, for a look at another Node that does not take as long as the suite.
 */
const LITTLE_ABOUT_NODE = [
  '/apps/api/test/.*int-spec',
  '/apps/worker/test/(?!second-signal|webhook|worker)',
  '/libs/(hub|testing)/test/',
  '/libs/kernel/test/migrator',
  '/libs/queue/test/(attack|property|store)',
  '/libs/queue/test/module/queue-ensure',
  '/migrations/test/',
  '/tools/(?!matrix|packages|test/local)',
];

/** suiteCells run the suite: one cell for each combination of what it runs on. */
export const suiteCells: readonly MatrixCell[] = NODES.flatMap((node) => [
  { alone: true, axes: { check: 'suite', node, tests: 'all' }, run: () => runSuite(node, []) },
  { alone: true, axes: { check: 'suite', node, tests: 'short' }, run: () => runSuite(node, LITTLE_ABOUT_NODE) },
]);

/** The version's folder leads the PATH, so that every program the tests start, npm too, runs on it. */
async function runSuite(node: string, ignored: readonly string[]): Promise<string> {
  const folder = await nodeFolder(node);
  const env = { PATH: `${folder}${delimiter}${process.env.PATH ?? ''}` };
  await runJest({ env, ignored, node: join(folder, 'node') }, `Node ${node}`);
  return 'passed';
}
