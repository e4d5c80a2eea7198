import { randomBytes } from 'node:crypto';
import type { ControlConnections, SchemaName } from '@holdfast/kernel';
import { Client, type ClientConfig } from 'pg';
import type { QueueOptions, ResolvedQueueOptions } from '../../assembly/queue.options.js';
import { connectionConfigOf, connectionsOf } from '../../assembly/queue.parts.js';
import { SilentReporter } from '../../runner/silent.reporter.js';

/** QueueTestingOptions change the options of a queue for a test; what they do not name stays the application's. */
export interface QueueTestingOptions extends Partial<QueueOptions> {
  /**
   * schema holds the queue's tables; `'own'` is one that nobody else has, made when the application is initialised and dropped when it is closed, for test
   * files that share a database. Default the application's.
   */
  readonly schema?: string;
}

const CONNECT_WITHIN_MS = 10_000;

/** TestSettings are what a test changes about one queue. */
export class TestSettings {
  private readonly ownSchema: string | undefined;

  constructor(private readonly given: QueueTestingOptions) {
    if (given.schema === 'own') this.ownSchema = `holdfast_test_${randomBytes(6).toString('hex')}`;
  }

  /** connections are the queue's own; with a schema of the test's own, closing them drops it. */
  connections(options: ResolvedQueueOptions): ControlConnections {
    const connections = connectionsOf(options);
    if (this.ownSchema === undefined) return connections;
    const close = connections.close.bind(connections);
    const early = configIfKnown(options);
    let dropped: Promise<void> | undefined;
    // A DataSource that has been destroyed by then does not know how to connect any more.
    const drop = () => dropSchema(early ?? connectionConfigOf(options), options.schema);
    connections.close = () => (dropped ??= close().finally(drop));
    return connections;
  }

  /** options are the application's, changed: nothing starts by itself, the tables are brought up, nothing is logged; what the test gives wins. */
  options(application: Partial<QueueOptions>): QueueOptions {
    const { given } = this;
    return {
      ...application,
      autoStart: false,
      migrations: 'up',
      reporter: new SilentReporter(),
      ...given,
      ...(this.ownSchema === undefined ? {} : { schema: this.ownSchema }),
      run: { ...application.run, ...given.run },
      schedule: { ...application.schedule, ...given.schedule },
    } as QueueOptions;
  }
}

function configIfKnown(options: ResolvedQueueOptions): ClientConfig | undefined {
  try {
    return connectionConfigOf(options);
  } catch {
    return undefined;
  }
}

async function dropSchema(config: ClientConfig, schema: SchemaName): Promise<void> {
  const client = new Client({
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    ...config,
    application_name: 'holdfast-testing',
  });
  // A connection that is lost rejects the statement that runs; without a listener it would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(`DROP SCHEMA IF EXISTS ${schema.quoted} CASCADE`);
  } finally {
    await client.end().catch(() => undefined);
  }
}
