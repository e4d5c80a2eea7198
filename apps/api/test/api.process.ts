import { spawnTs, type SpawnedProcess } from '@holdfast/testing';

/** Answer is what a request got. */
export interface Answer {
  readonly body: Record<string, unknown>;
  readonly headers: Headers;
  readonly status: number;
}

/** ApiProcess is a running api, as a process of its own. */
export class ApiProcess {
  private constructor(
    readonly process: SpawnedProcess,
    readonly url: string,
  ) {}

  static async start(env: Record<string, string>): Promise<ApiProcess> {
    const process = spawnTs('apps/api/src/main.ts', { env: { HOST: '127.0.0.1', PORT: '0', WEBHOOK_URL: '', ...env } });
    const line = await process.line('Listening on http');
    return new ApiProcess(process, urlIn(line));
  }

  get(path: string): Promise<Answer> {
    return this.request(path, {});
  }

  /** post sends a value as JSON, or a text as it is. */
  post(
    path: string,
    body: unknown,
    headers: Record<string, string> = { 'Content-Type': 'application/json' },
  ): Promise<Answer> {
    return this.request(path, {
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers,
      method: 'POST',
    });
  }

  private async request(path: string, init: RequestInit): Promise<Answer> {
    const response = await fetch(`${this.url}${path}`, { ...init, redirect: 'manual' });
    return {
      body: (await response.json()) as Record<string, unknown>,
      headers: response.headers,
      status: response.status,
    };
  }
}

/** A log may be coloured: the URL ends where the letters of one do. */
function urlIn(line: string): string {
  return /http:[\w.:/]+/.exec(line)?.[0] ?? '';
}
