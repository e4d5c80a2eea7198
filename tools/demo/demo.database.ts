import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedServer, freePort, reachable, serverUser } from '@holdfast/testing';

/** DemoDatabase is where the demo runs: the empty database of `DATABASE_URL`, else an embedded server that goes with the demo. */
export class DemoDatabase {
  private folder: string | undefined;
  private server: EmbeddedServer | undefined;

  constructor(private readonly given: string | undefined) {}

  /** start answers the URL. */
  async start(): Promise<string> {
    if (this.given) return this.given;
    const place = [tmpdir(), '/var/tmp', '/tmp'].find((folder) => reachable(folder, serverUser())) ?? tmpdir();
    this.folder = mkdtempSync(join(place, 'holdfast-demo-'));
    chmodSync(this.folder, 0o755);
    this.server = new EmbeddedServer({
      dataFolder: join(this.folder, 'data'),
      password: randomBytes(12).toString('hex'),
      port: await freePort(),
    });
    await this.server.start();
    return this.server.url;
  }

  async stop(): Promise<void> {
    await this.server?.stop();
    if (this.folder) rmSync(this.folder, { force: true, maxRetries: 5, recursive: true, retryDelay: 200 });
  }
}
