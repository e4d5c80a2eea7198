import { randomBytes } from 'node:crypto';

/** Testbed is what the run's keeper told about its server. */
export interface Testbed {
  readonly kind: 'docker' | 'embedded' | 'external';
  /** logFile is the server's log where it can be read (embedded only). */
  readonly logFile?: string;
  /** major is the server's major version, such as 18: some settings are of a later one than the oldest that is supported. */
  readonly major: number;
  /** prefix begins the name of every database and role of this run. */
  readonly prefix: string;
  readonly template: string;
  /** url connects as a superuser to a maintenance database. */
  readonly url: string;
}

/** testbed answers the run's server. Throws outside `*.int-spec.ts`, `*.proc-spec.ts` and `*.e2e-spec.ts`: only for those a server is started. */
export function testbed(): Testbed {
  const told = process.env.HOLDFAST_TESTBED;
  if (!told) throw new Error('No test server: only *.int-spec.ts, *.proc-spec.ts and *.e2e-spec.ts files get one.');
  return JSON.parse(told) as Testbed;
}

/** uniqueName answers a name for a database or a role that no other test file of this or another run uses. */
export function uniqueName(what: string): string {
  return `${testbed().prefix}${what}_${randomBytes(5).toString('hex')}`;
}

/** urlOf answers the server's address for another database, and for another account where one is given. */
export function urlOf(database: string, account?: { readonly name: string; readonly password: string }): string {
  const url = new URL(testbed().url);
  url.pathname = `/${database}`;
  if (account) [url.username, url.password] = [account.name, account.password];
  return url.toString();
}
