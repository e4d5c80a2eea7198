import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reachable, serverUser } from '@holdfast/testing';
import { ownedDatabase, requirePlainRole } from '../local/app.role.js';
import { serverFolder } from '../local/data-folder.js';
import { Part } from '../local/part.js';
import { clearStaleServer } from '../local/stale.server.js';

const STOP_MS = 30_000;

/** DemoDatabase is where the demo runs: the empty database of `DATABASE_URL`, else a server of its own whose data goes with the demo. */
export class DemoDatabase {
  private folder: string | undefined;
  private server: Part | undefined;

  constructor(private readonly given: string | undefined) {}

  /** start answers the URL of a role that does not bypass row level security. Throws LocalProblem where that of the given database does. */
  async start(): Promise<string> {
    if (this.given) {
      await requirePlainRole(this.given);
      return this.given;
    }
    const place = [tmpdir(), '/var/tmp', '/tmp'].find((folder) => reachable(folder, serverUser())) ?? tmpdir();
    this.folder = mkdtempSync(join(place, 'holdfast-demo-'));
    chmodSync(this.folder, 0o755);
    const file = 'tools/local/postgres.keeper.ts';
    this.server = new Part({ args: [this.folder, 'passing'], endsWithStart: false, file, name: 'postgres' });
    return ownedDatabase(String((await this.server.event('ready')).url));
  }

  async stop(): Promise<void> {
    await this.server?.stop(STOP_MS);
    if (!this.folder) return;
    await clearStaleServer(serverFolder(this.folder));
    rmSync(this.folder, { force: true, maxRetries: 5, recursive: true, retryDelay: 200 });
  }
}
