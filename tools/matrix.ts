import { type MatrixCell, pick, titleOf } from './matrix/matrix.cell.js';
import { MatrixStage } from './matrix/matrix.stage.js';
import { THIS_NODE } from './matrix/node.release.js';
import { serverCells } from './matrix/server.cells.js';
import { suiteCells } from './matrix/suite.cells.js';
import { packageCells } from './packages/package.cells.js';

const CELLS: readonly MatrixCell[] = [...packageCells, ...serverCells, ...suiteCells];

/** `npm run test:matrix` tries every combination; `npm run test:matrix -- check=packages` those that the words fit. */
async function main(args: readonly string[]): Promise<void> {
  const cells = pick(CELLS, args, THIS_NODE);
  if (cells.length === 0)
    throw new Error(`Nothing fits ${args.join(' ')}. There are:\n${CELLS.map(titleOf).join('\n')}`);
  const stage = new MatrixStage();
  let failed = 0;
  const runAll = async (next: MatrixCell[]) => {
    for (let cell = next.shift(); cell; cell = next.shift()) failed += (await tell(cell, stage)) ? 0 : 1;
  };
  try {
    const together = cells.filter(({ alone }) => !alone);
    await Promise.all([runAll(together), runAll(together)]);
    await runAll(cells.filter(({ alone }) => alone));
  } finally {
    await stage.close();
  }
  console.log(`${cells.length - failed} combinations work, ${failed} do not.`);
  if (failed > 0) process.exitCode = 1;
}

async function tell(cell: MatrixCell, stage: MatrixStage): Promise<boolean> {
  const startedMs = performance.now();
  const seconds = () => `${((performance.now() - startedMs) / 1000).toFixed(0)} s`;
  try {
    console.log(`${titleOf(cell)}: ${await cell.run(stage)} (${seconds()})`);
    return true;
  } catch (error) {
    console.log(`${titleOf(cell)}: FAILED (${seconds()})\n${error instanceof Error ? error.message : String(error)}`);
    return false;
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
