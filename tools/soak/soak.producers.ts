import { createQueue, pgPool, type HoldfastQueue } from '@holdfast/queue/core';
import type { Pool, PoolClient } from 'pg';
import { KEYED, NEVER, ONCE, Plain } from './soak.jobs.js';
import { soakPool } from './soak.pool.js';
import type { SeededRandom } from './seeded.random.js';

const LOOPS = 4;
const KEYS = 12;
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** SoakProducers enqueue in every way there is, each request in one transaction with the row that tells of it, until they are stopped. */
export class SoakProducers {
  /** failed counts transactions that the faults ended; what of them committed is in the tables. */
  failed = 0;
  private count = 0;
  private readonly loops: Promise<void>[] = [];
  private readonly pool: Pool;
  private readonly queue: HoldfastQueue;
  private stopped = false;

  constructor(
    url: string,
    private readonly random: SeededRandom,
  ) {
    this.pool = soakPool({
      application_name: 'soak-producer',
      connectionString: url,
      connectionTimeoutMillis: 10_000,
      max: LOOPS + 3,
    });
    this.queue = createQueue({ database: pgPool(this.pool), migrations: 'off' });
  }

  /** burst asks for many plain jobs in one transaction. */
  burst(many: number): Promise<void> {
    return this.transaction((client) => this.batch(client, many));
  }

  /** hold keeps a transaction open that has enqueued, plain and by every key, and then commits it. */
  hold(ms: number): Promise<void> {
    return this.transaction(async (client) => {
      await this.batch(client, 5);
      for (const definition of KEYED)
        for (let key = 0; key < KEYS; key += 1) await this.keyed(client, definition, `key-${key}`);
      await pause(ms);
    });
  }

  start(): void {
    for (let loop = 0; loop < LOOPS; loop += 1) this.loops.push(this.produce());
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.loops);
    await this.queue.close();
    await this.pool.end();
  }

  private async batch(client: PoolClient, many: number): Promise<void> {
    const tags = Array.from({ length: many }, () => this.tag());
    await client.query('INSERT INTO soak_request (kind, tag) SELECT $1, unnest($2::text[])', [Plain.kind, tags]);
    await this.queue.jobs.enqueueMany(
      tags.map((tag) => Plain.request({ tag })),
      { in: client },
    );
  }

  private async inSql(client: PoolClient): Promise<void> {
    const tag = this.tag();
    await client.query('INSERT INTO soak_request (kind, tag) VALUES ($1, $2)', [Plain.kind, tag]);
    await client.query('SELECT holdfast.enqueue($1, jsonb_build_object($$tag$$, $2::text))', [Plain.kind, tag]);
  }

  private async keyed(client: PoolClient, definition: (typeof KEYED)[number], key: string): Promise<void> {
    await client.query('INSERT INTO soak_request (kind, tag, key) VALUES ($1, $2, $3)', [
      definition.kind,
      this.tag(),
      key,
    ]);
    await this.queue.jobs.enqueue(definition, { tag: key }, { dedupeKey: key, in: client });
  }

  private async plain(client: PoolClient): Promise<void> {
    const definition = this.random.pick([...ONCE, ...NEVER]);
    const tag = this.tag();
    await client.query('INSERT INTO soak_request (kind, tag) VALUES ($1, $2)', [definition.kind, tag]);
    await this.queue.jobs.enqueue(definition, { tag }, { in: client });
  }

  private async produce(): Promise<void> {
    while (!this.stopped) {
      const work = this.random.pick([
        (client: PoolClient) => this.plain(client),
        (client: PoolClient) => this.plain(client),
        (client: PoolClient) => this.keyed(client, this.random.pick(KEYED), `key-${this.random.between(0, KEYS - 1)}`),
        (client: PoolClient) => this.keyed(client, this.random.pick(KEYED), `key-${this.random.between(0, KEYS - 1)}`),
        (client: PoolClient) => this.batch(client, this.random.between(2, 10)),
        (client: PoolClient) => this.inSql(client),
      ]);
      const rolledBack = this.random.between(1, 10) === 1;
      await this.transaction(work, rolledBack ? 'ROLLBACK' : 'COMMIT').catch(async () => {
        this.failed += 1;
        await pause(200);
      });
      await pause(this.random.between(20, 100));
    }
  }

  private tag(): string {
    return `t${(this.count += 1)}`;
  }

  private async transaction(work: (client: PoolClient) => Promise<void>, end = 'COMMIT'): Promise<void> {
    const client = await this.pool.connect();
    let failure: Error | undefined;
    try {
      await client.query('BEGIN');
      await work(client);
      await client.query(end);
    } catch (error) {
      failure = error as Error;
      throw error;
    } finally {
      client.release(failure);
    }
  }
}
