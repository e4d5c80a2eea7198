/** replacing makes functions anew in the place of those of the same name and arguments: who may execute them stays. */
export function replacing(statements: readonly string[]): string[] {
  return statements.map((statement) => statement.replace(/^CREATE FUNCTION /, 'CREATE OR REPLACE FUNCTION '));
}
