import type { MatrixCell } from './matrix.cell.js';
import { SERVERS, serverFolder } from './server.release.js';
import { runJest } from './suite.run.js';

/** What depends on the server: SQL, its plans and locks, settings and roles, transactions, waking, and the migrations. */
const ABOUT_THE_SERVER = [
  'libs/hub/test/row-security',
  'libs/kernel/test/.*int-spec',
  'libs/queue/test/(failure-record|has-work|job-queue|long-times|payload-size|runner-lease|runner-transaction|store|waking)',
  'libs/queue/test/(attack|attack-runner|bulk|jobs|property)/',
  'libs/queue/test/leadership/(advisory-lock|leader-transaction)',
  'migrations/test/',
];

/** What takes most of the time. `tests=short` leaves it out. */
const LONG = [
  'libs/kernel/test/control-connections',
  'libs/queue/test/(attack-runner/(exit|finish|session)|bulk|property|store\\.plans)',
  'migrations/test/migrate-at-once',
];

/** These speak to the server in sessions of their own, which they mean to be READ COMMITTED: another default is not for them. */
const READ_COMMITTED_ALONE = [
  'libs/queue/test/attack/claims',
  'migrations/test/(privileges|queue-tables|sql-enqueue|typeorm)',
];

/** The isolation level that a transaction has which names none. */
const DEFAULTS: Readonly<Record<string, string>> = {
  'read-committed': '',
  'repeatable-read': 'default_transaction_isolation=repeatable read',
  serializable: 'default_transaction_isolation=serializable',
};

/** serverCells run what depends on the server on every major version, each with every isolation level as its default. */
export const serverCells: readonly MatrixCell[] = Object.keys(SERVERS).flatMap((server) =>
  Object.keys(DEFAULTS).flatMap((isolation) =>
    ['all', 'short'].map((tests) => ({
      alone: true,
      axes: { check: 'servers', server, isolation, tests },
      run: () =>
        runOn(server, isolation, [
          ...(tests === 'short' ? LONG : []),
          ...(isolation === 'read-committed' ? [] : READ_COMMITTED_ALONE),
        ]),
    })),
  ),
);

async function runOn(server: string, isolation: string, ignored: readonly string[]): Promise<string> {
  const env = {
    TEST_DATABASE_URL: '',
    TEST_POSTGRES_PROGRAMS: await serverFolder(server),
    TEST_POSTGRES_SETTINGS: DEFAULTS[isolation] ?? '',
  };
  await runJest({ env, ignored, paths: ABOUT_THE_SERVER }, `PostgreSQL ${server}, ${isolation}`);
  return 'passed';
}
