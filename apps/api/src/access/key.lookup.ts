import { ControlConnections, Database } from '@holdfast/kernel';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { hashOfKey, isApiKey } from './api-key.js';

const CONNECTIONS = 2;
const DEADLINE_MS = 5_000;
const TENANT_OF_KEY = 'SELECT tenant_of_api_key($1) AS tenant';

/**
 * KeyLookup finds whose an API key is, in one round trip.
 *
 * It has connections of its own: a request that nobody has let in yet takes none from the pool. Nothing is remembered, so that a revoked key
 * is refused at once.
 */
@Injectable()
export class KeyLookup implements OnApplicationShutdown {
  private readonly connections: ControlConnections;

  constructor(database: Database) {
    this.connections = new ControlConnections(() => database.connectionConfig(), {
      applicationName: 'holdfast-api-keys',
      deadlineMs: DEADLINE_MS,
      max: CONNECTIONS,
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.connections.close();
  }

  /** tenantOf answers the tenant whose key it is, or undefined for what is no key, or one that was revoked. */
  async tenantOf(key: string): Promise<string | undefined> {
    if (!isApiKey(key)) return undefined;
    const { rows } = await this.connections.query<{ tenant: string | null }>(
      TENANT_OF_KEY,
      [hashOfKey(key)],
      'tenant-of-api-key',
    );
    return rows[0]?.tenant ?? undefined;
  }
}
