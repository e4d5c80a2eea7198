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
