/** Credentials are what a request is let in by; a header that came twice is joined by Node, and is nobody's key. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

const BEARER = /^Bearer +(\S+) *$/i;

/** bearerOf answers the token of `Authorization: Bearer …`, or undefined. */
export function bearerOf({ headers }: Credentials): string | undefined {
  const { authorization } = headers;
  return typeof authorization === 'string' ? BEARER.exec(authorization)?.[1] : undefined;
}

/** apiKeyOf answers the key of a request: its bearer token, else `X-Api-Key`. */
export function apiKeyOf(request: Credentials): string | undefined {
  const { 'x-api-key': header } = request.headers;
  return bearerOf(request) ?? (typeof header === 'string' ? header : undefined);
}
