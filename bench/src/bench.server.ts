import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Client } from 'pg';

/** BenchServer is the PostgreSQL of one benchmark run; its keeper ends it with the run, also when the run is killed. */
export class BenchServer {
  private constructor(
    private readonly keeper: ChildProcess,
    private readonly url: string,
  ) {}

  static async start(): Promise<BenchServer> {
    const keeper = fork(join(__dirname, 'server.keeper.ts'));
    const [answer] = (await Promise.race([once(keeper, 'message'), once(keeper, 'exit')])) as [unknown];
    const { url } = (answer ?? {}) as { url?: string };
    if (url === undefined) throw new Error('The server of the benchmark did not start: see its output above.');
    return new BenchServer(keeper, url);
  }

  /** freshDatabase answers the URL of a new, empty database. */
  async freshDatabase(name: string): Promise<string> {
    await this.run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`, `CREATE DATABASE ${name}`, 'CHECKPOINT');
    const url = new URL(this.url);
    url.pathname = `/${name}`;
    return url.toString();
  }

  async stop(): Promise<void> {
    const ended = once(this.keeper, 'exit');
    if (this.keeper.connected) this.keeper.disconnect();
    if (this.keeper.exitCode === null) await ended;
  }

  async version(): Promise<string> {
    const [row] = await this.run('SHOW server_version');
    return String(row?.server_version);
  }

  /** run answers the rows of the last statement. */
  private async run(...statements: string[]): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: this.url });
    await client.connect();
    try {
      let rows: Record<string, unknown>[] = [];
      for (const statement of statements) ({ rows } = await client.query<Record<string, unknown>>(statement));
      return rows;
    } finally {
      await client.end();
    }
  }
}
