import type { DataSource } from 'typeorm';
import { ConfigurationError } from '../configuration/configuration.error.js';
import { HUB_TABLES } from './hub.tables.js';

const ROLE = `
  SELECT rolname AS name, rolsuper AS superuser, rolbypassrls AS bypasses FROM pg_roles WHERE rolname = current_user`;
const UNFORCED = `
  SELECT name FROM unnest($1::text[]) AS name LEFT JOIN pg_class c ON c.oid = to_regclass(name)
  WHERE (c.relrowsecurity AND c.relforcerowsecurity) IS NOT TRUE`;

/**
 * checkRole throws ConfigurationError when row level security does not hold for the role that the app connects as (T1).
 *
 * A superuser and a role with BYPASSRLS see every tenant's rows, without a word from the server.
 */
export async function checkRole(dataSource: DataSource): Promise<void> {
  const [role] = await dataSource.query<{ bypasses: boolean; name: string; superuser: boolean }[]>(ROLE);
  if (!role?.superuser && !role?.bypasses) return;
  const why = role.superuser ? 'is a superuser' : 'has BYPASSRLS';
  throw new ConfigurationError([
    `DATABASE_URL: the role ${role.name} ${why}, so that row level security does not hold for it and tenants would see each other's rows. ` +
      `Connect as a role without: CREATE ROLE hub LOGIN PASSWORD '…' NOSUPERUSER NOBYPASSRLS, and make it the owner of the hub's tables (docs/tenants.md).`,
  ]);
}

/** checkTables throws ConfigurationError when a table of the hub has lost its row level security, or FORCE, without which it does not hold for the owner. */
export async function checkTables(dataSource: DataSource): Promise<void> {
  const rows = await dataSource.query<{ name: string }[]>(UNFORCED, [HUB_TABLES]);
  if (rows.length === 0) return;
  const remedies = rows.map(({ name }) => `ALTER TABLE ${name} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`);
  throw new ConfigurationError([
    `DATABASE_URL: row level security is not forced on every table of the hub. Run, as their owner: ${remedies.join('; ')}.`,
  ]);
}
