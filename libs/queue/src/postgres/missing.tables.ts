import { MigrationsPendingError, property, type SchemaName, sqlStateOf } from '@holdfast/kernel';

const UNDEFINED_TABLE = '42P01';
const UNDEFINED_SCHEMA = '3F000';

/** namingMissingTables answers what `sending` does; where it found no table of the queue, it rejects with the remedy, a MigrationsPendingError. */
export async function namingMissingTables<T>(schema: SchemaName, sending: Promise<T>): Promise<T> {
  try {
    return await sending;
  } catch (error) {
    if (isMissing(schema, error)) throw new MigrationsPendingError(schema.name, [], { cause: error });
    throw error;
  }
}

/** The message names the table in every language of the server; a trigger of the application's may miss a table of its own. */
function isMissing({ name }: SchemaName, error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state !== UNDEFINED_TABLE && state !== UNDEFINED_SCHEMA) return false;
  return String(property(error, 'message')).includes(state === UNDEFINED_TABLE ? `${name}.` : name);
}
