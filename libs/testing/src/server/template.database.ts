import { Migrator } from '@holdfast/kernel';
import { queueMigrations } from '@holdfast/migrations';
import { Client, escapeIdentifier } from 'pg';

/** TemplateDatabase is the database with the migrations applied that every test database is a clone of. */
export class TemplateDatabase {
  constructor(
    private readonly serverUrl: string,
    readonly name: string,
  ) {}

  /** create makes it and closes it to connections: a template that somebody is connected to cannot be cloned. */
  async create(): Promise<void> {
    await this.onServer(`CREATE DATABASE ${escapeIdentifier(this.name)} TEMPLATE template0`);
    await this.migrate();
    await this.onServer(`ALTER DATABASE ${escapeIdentifier(this.name)} ALLOW_CONNECTIONS false`);
  }

  /** drop removes it, and every clone that a test file has not dropped. */
  async drop(prefix: string): Promise<void> {
    const client = new Client({ connectionString: this.serverUrl });
    await client.connect();
    try {
      const left = await client.query<{ datname: string }>(
        'SELECT datname FROM pg_database WHERE starts_with(datname, $1)',
        [prefix],
      );
      for (const { datname } of left.rows)
        await client.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(datname)} WITH (FORCE)`);
    } finally {
      await client.end();
    }
  }

  private async migrate(): Promise<void> {
    const url = new URL(this.serverUrl);
    url.pathname = `/${this.name}`;
    const client = new Client({ connectionString: url.toString() });
    await client.connect();
    try {
      await new Migrator(client, { migrations: queueMigrations, schema: 'holdfast' }).up();
    } finally {
      await client.end();
    }
  }

  private async onServer(sql: string): Promise<void> {
    const client = new Client({ connectionString: this.serverUrl });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  }
}
