import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedServer, freePort } from '@holdfast/testing';
import { Client } from 'pg';

/** The settings that the figures are measured with: durable commits as shipped, memory as a small server has it. */
export const BENCH_SETTINGS = { max_connections: '200', shared_buffers: '1GB', max_wal_size: '4GB' } as const;

/** BenchServer is the PostgreSQL of one benchmark run, in a folder that goes with it. */
export class BenchServer {
  private constructor(
    private readonly folder: string,
    private readonly server: EmbeddedServer,
  ) {}

  static async start(): Promise<BenchServer> {
    const folder = mkdtempSync('/var/tmp/holdfast-bench-');
    chmodSync(folder, 0o755);
    const server = new EmbeddedServer({
      dataFolder: join(folder, 'data'),
      password: 'bench',
      port: await freePort(),
      settings: BENCH_SETTINGS,
    });
    await server.start();
    return new BenchServer(folder, server);
  }

  /** freshDatabase answers the URL of a new, empty database. */
  async freshDatabase(name: string): Promise<string> {
    const client = new Client({ connectionString: this.server.url });
    await client.connect();
    try {
      await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await client.query(`CREATE DATABASE ${name}`);
      await client.query('CHECKPOINT');
    } finally {
      await client.end();
    }
    const url = new URL(this.server.url);
    url.pathname = `/${name}`;
    return url.toString();
  }

  async stop(): Promise<void> {
    await this.server.stop();
    rmSync(this.folder, { force: true, recursive: true });
  }

  async version(): Promise<string> {
    const client = new Client({ connectionString: this.server.url });
    await client.connect();
    try {
      return (
        (await client.query<{ server_version: string }>('SHOW server_version')).rows[0]?.server_version ?? 'unknown'
      );
    } finally {
      await client.end();
    }
  }
}
