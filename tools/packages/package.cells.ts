import { createEmptyDatabase } from '@holdfast/testing';
import { join } from 'node:path';
import type { MatrixCell } from '../matrix/matrix.cell.js';
import type { MatrixStage } from '../matrix/matrix.stage.js';
import { contentProblems, entriesOf } from './archive.contents.js';
import { type ModuleFormat, SampleApplication } from './sample.application.js';
import { type SampleVariant, variants } from './sample.variants.js';
import { refusesSecondKernel } from './second.kernel.js';

/** SAID is a sample's last line: it has enqueued in a transaction, run the jobs, and stopped. */
const SAID = 'enqueued, ran, stopped\n';

/** packageCells install the packed packages into an application of each variant, compile it and run it. */
export const packageCells: readonly MatrixCell[] = variants.map((variant) => ({
  alone: false,
  axes: { check: 'packages', application: variant.name },
  run: (stage) => tryOut(variant, stage),
}));

async function tryOut(variant: SampleVariant, stage: MatrixStage): Promise<string> {
  const archives = await stage.archives();
  const application = new SampleApplication(join(stage.folder, variant.name), variant);
  await application.install(archives);
  const problems = archives.flatMap((archive) =>
    contentProblems(archive, application.packageFolder(archive.manifest.name)),
  );
  if (problems.length > 0) throw new Error(problems.join('\n'));
  await application.load(variant.entries ?? archives.flatMap(entriesOf));
  await refusesSecondKernel(application);
  const foreign = new Set<string>();
  for (const check of variant.checks) {
    for (const name of await application.compile(check)) foreign.add(name);
    if (check === 'commonjs' || check === 'module') await runOnce(application, check, stage);
  }
  const aside = foreign.size === 0 ? '' : `; declarations with errors of their own: ${[...foreign].sort().join(', ')}`;
  return `${variant.checks.join(', ')}${aside}`;
}

/** Dropping the database fails when the sample left a connection behind. */
async function runOnce(application: SampleApplication, format: ModuleFormat, stage: MatrixStage): Promise<void> {
  await stage.server();
  const database = await createEmptyDatabase();
  try {
    const said = await application.start(format, database.url);
    if (said !== SAID) throw new Error(`${format}: it said more than it should:\n${said}`);
  } finally {
    await database.drop();
  }
}
