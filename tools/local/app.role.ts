import { handOver } from '@holdfast/testing';
import { Client } from 'pg';
import { LocalProblem } from './local.problem.js';

/** The role that the apps connect as on a server of our own; its password is as little a secret as the server's. */
const ROLE = 'hub';
const PASSWORD = 'holdfast';

/**
 * ownedDatabase makes a role that does not bypass row level security the owner of a database and of all that is in it, and answers the URL with which it
 * connects. What an earlier version's start has made as the superuser is handed over with the rest.
 */
export async function ownedDatabase(superuserUrl: string): Promise<string> {
  await connected(superuserUrl, async (client) => {
    const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [ROLE]);
    if (rowCount === 0) await client.query(`CREATE ROLE ${ROLE}`);
    await client.query(`ALTER ROLE ${ROLE} LOGIN PASSWORD '${PASSWORD}' NOSUPERUSER NOBYPASSRLS`);
    await client.query(handOver(ROLE));
  });
  const url = new URL(superuserUrl);
  url.username = ROLE;
  url.password = PASSWORD;
  return url.toString();
}

/** requirePlainRole throws a LocalProblem, with what to run, where the role of a given URL bypasses row level security. A server that cannot be asked says why. */
export async function requirePlainRole(url: string): Promise<void> {
  const [role] = await connected(url, async (client) => {
    const text = `SELECT quote_ident(current_database()) AS database, rolname AS name FROM pg_roles
      WHERE rolname = current_user AND (rolsuper OR rolbypassrls)`;
    return (await client.query<{ database: string; name: string }>(text)).rows;
  });
  if (!role) return;
  throw new LocalProblem(
    `DATABASE_URL: the role ${role.name} bypasses row level security, which keeps the tenants apart. Make one that does not, and name it in DATABASE_URL: ` +
      `CREATE ROLE hub LOGIN PASSWORD '…'; ALTER DATABASE ${role.database} OWNER TO hub; (docs/tenants.md, also for a database that has tables already).`,
  );
}

async function connected<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  // A server that is stopped meanwhile: the statement that was running says so, and this listener keeps it at that.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
