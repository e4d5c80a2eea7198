import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildArchives, type Archive } from '../packages/archives.js';

const JEST = resolve(__dirname, '../../libs/testing/jest');
const load = createRequire(__filename);

/** MatrixStage is what cells share: made when the first asks for it, gone with `close`. */
export class MatrixStage {
  private archived: Promise<readonly Archive[]> | undefined;
  private made: string | undefined;
  private served: Promise<void> | undefined;

  /** folder is outside the workspace, so that nothing of the workspace is found from there. */
  get folder(): string {
    this.made ??= realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-matrix-')));
    return this.made;
  }

  /** archives are the packages, built and packed. */
  archives(): Promise<readonly Archive[]> {
    this.archived ??= buildArchives(this.folder);
    return this.archived;
  }

  async close(): Promise<void> {
    try {
      if (this.served) await testbed('teardown');
    } finally {
      if (this.made) rmSync(this.made, { force: true, recursive: true });
    }
  }

  /** server starts the PostgreSQL that createEmptyDatabase makes databases on: the one of the tests. */
  server(): Promise<void> {
    this.served ??= testbed('setup');
    return this.served;
  }
}

/** testbed does what Jest does before and after a run with a database. */
function testbed(part: 'setup' | 'teardown'): Promise<void> {
  const done = load(join(JEST, `global-${part}.cjs`)) as () => Promise<void>;
  return done();
}
