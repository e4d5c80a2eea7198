/** Answer is what a request got; a body that is none is an empty object. */
export interface Answer {
  readonly body: Record<string, unknown>;
  readonly headers: Headers;
  readonly status: number;
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** ApiClient sends requests with one key, or with none. */
export class ApiClient {
  constructor(
    readonly url: string,
    readonly key: string,
  ) {}

  delete(path: string): Promise<Answer> {
    return this.send('DELETE', path);
  }

  get(path: string): Promise<Answer> {
    return this.send('GET', path);
  }

  patch(path: string, body: unknown): Promise<Answer> {
    return this.send('PATCH', path, body);
  }

  /** post sends a value as JSON, or a text as it is. */
  post(path: string, body?: unknown, headers: Record<string, string> = JSON_TYPE): Promise<Answer> {
    return this.send('POST', path, body, headers);
  }

  /** send answers 4xx and 5xx too. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = JSON_TYPE,
  ): Promise<Answer> {
    const authorization: Record<string, string> = this.key ? { Authorization: `Bearer ${this.key}` } : {};
    const response = await fetch(`${this.url}${path}`, {
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      headers: { ...(body !== undefined && headers), ...authorization },
      method,
      redirect: 'manual',
    });
    const text = await response.text();
    return {
      body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
      headers: response.headers,
      status: response.status,
    };
  }
}
