/** TestServer is a running PostgreSQL for one test run. */
export interface TestServer {
  /** kind says where it came from, for messages. */
  readonly kind: 'docker' | 'embedded' | 'external';
  /** logFile is the server's log, where this process can read it. */
  readonly logFile?: string;
  /** url connects as a superuser to a maintenance database. */
  readonly url: string;
  stop(): Promise<void>;
}

/** TEST_SETTINGS are the settings of a server that is started for tests: no data is worth a flush. */
export const TEST_SETTINGS: Readonly<Record<string, string>> = {
  fsync: 'off',
  full_page_writes: 'off',
  log_lock_waits: 'on',
  max_connections: '200',
  synchronous_commit: 'off',
};

/** serverPrograms answers the folder that `TEST_POSTGRES_PROGRAMS` names: the package of another version of the embedded PostgreSQL. */
export function serverPrograms(): string | undefined {
  return process.env.TEST_POSTGRES_PROGRAMS || undefined;
}

/** serverSettings answers TEST_SETTINGS with what `TEST_POSTGRES_SETTINGS` adds: `name=value` pairs with commas between them. */
export function serverSettings(): Readonly<Record<string, string>> {
  const added = (process.env.TEST_POSTGRES_SETTINGS ?? '').split(',').filter((pair) => pair.trim() !== '');
  const pairs = added.map((pair): [string, string] => {
    const [name = '', value] = pair.split('=', 2).map((part) => part.trim());
    if (value === undefined) throw new Error(`TEST_POSTGRES_SETTINGS wants name=value pairs and has ${pair}.`);
    return [name, value];
  });
  return { ...TEST_SETTINGS, ...Object.fromEntries(pairs) };
}
