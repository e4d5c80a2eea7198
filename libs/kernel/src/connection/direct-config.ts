import { Client, type ClientConfig } from 'pg';

/** The parameters by which a URL says how it is encrypted. */
const TLS_PARAMETERS = ['ssl', 'sslcert', 'sslkey', 'sslmode', 'sslnegotiation', 'sslrootcert'];

/**
 * directConfigOf answers how to connect to `url` with the settings of the application's own connections where the URL names none: TLS, and user and
 * password or its function (R19).
 *
 * A URL that names another user without a password gets none of the application's: it belongs to somebody else.
 */
export function directConfigOf(config: ClientConfig, url: string): ClientConfig {
  const { searchParams, username } = new URL(url);
  const direct = settingsOf({ connectionString: url });
  const own = settingsOf(config);
  const names = (name: string) => searchParams.has(name);
  const sameUser = (username === '' && !names('user')) || direct.user === own.user;
  return {
    ...(Object.fromEntries(searchParams) as ClientConfig),
    ...direct,
    password: direct.password ?? (sameUser ? own.password : undefined),
    ssl: TLS_PARAMETERS.some(names) ? direct.ssl : own.ssl,
    user: sameUser ? own.user : direct.user,
  };
}

/** A client that is never connected reads what a URL, an object and the environment say. */
function settingsOf(
  config: ClientConfig,
): Pick<ClientConfig, 'database' | 'host' | 'password' | 'port' | 'ssl' | 'user'> {
  const { database, host, password, port, ssl, user } = new Client(config) as ClientConfig;
  return { database, host, password: password ?? undefined, port, ssl, user };
}
