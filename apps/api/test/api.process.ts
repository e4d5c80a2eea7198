import { spawnTs, type SpawnedProcess, type TestDatabase } from '@holdfast/testing';
import { ApiClient } from './api.client.js';

/** OPERATOR_TOKEN is the operator's in the tests. */
export const OPERATOR_TOKEN = 'the-token-of-the-operator-in-the-tests';

/** ApiProcess is a running api, as a process of its own. */
export class ApiProcess {
  /** anyone has no key. */
  readonly anyone: ApiClient;
  readonly operator: ApiClient;

  private constructor(
    readonly process: SpawnedProcess,
    readonly url: string,
  ) {
    this.anyone = new ApiClient(url, '');
    this.operator = new ApiClient(url, OPERATOR_TOKEN);
  }

  /** on answers an api on a database, as a role that owns it and does not bypass row level security. */
  static async on(database: TestDatabase, env: Record<string, string> = {}): Promise<ApiProcess> {
    const role = await database.createRole({ owner: true });
    return ApiProcess.start({ DATABASE_URL: role.url, ...env });
  }

  static async start(env: Record<string, string>): Promise<ApiProcess> {
    const process = spawnTs('apps/api/src/main.ts', { env: { HOST: '127.0.0.1', OPERATOR_TOKEN, PORT: '0', ...env } });
    const line = await process.line('Listening on http');
    return new ApiProcess(process, urlIn(line));
  }

  /** tenant makes a tenant and answers a client with its key. */
  async tenant(id: string): Promise<ApiClient> {
    const { body, status } = await this.operator.post('/tenants', { id, name: `Tenant ${id}` });
    if (status !== 201) throw new Error(`The tenant was answered ${status}: ${JSON.stringify(body)}`);
    return new ApiClient(this.url, String(body.apiKey));
  }
}

/** A log may be coloured: the URL ends where the letters of one do. */
function urlIn(line: string): string {
  return /http:[\w.:/]+/.exec(line)?.[0] ?? '';
}
