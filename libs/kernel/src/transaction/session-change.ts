/** Command tags of statements that outlive the transaction in the session; SET LOCAL shares its tag with SET. */
const SESSION_TAGS = new Set(['DEALLOCATE', 'DISCARD', 'LISTEN', 'LOAD', 'PREPARE', 'RESET', 'UNLISTEN']);
/** Tags under which a SET may be: in a block of DO it has none of its own. */
const SET_TAGS = new Set(['DO', 'SET']);
const SETS_SESSION = /\bset\b(?!\s+(?:constraints|local|transaction)\b)/i;

/** What outlives the transaction wherever it stands in a statement, and under any tag. */
const CHANGES = new RegExp(
  [
    // set_config(…, …, true) is SET LOCAL; anything else as its last argument may be SET.
    String.raw`\bset_config"?\s*\((?![^()]*,\s*true\s*\))`,
    // Kept also when the statement fails.
    String.raw`\bpg_(?:try_)?advisory_lock(?:_shared)?\b`,
    String.raw`\bwith\s+hold\b`,
    String.raw`\b(?:create|into)\s+(?:(?:global|local)\s+)?temp(?:orary)?\b(?![^]*\bon\s+commit\s+drop\b)`,
  ].join('|'),
  'i',
);

/** mayChangeSession tells from its text whether a statement may leave something in the session, whatever comes of it. */
export function mayChangeSession(text: string): boolean {
  return CHANGES.test(text);
}

/** hasChangedSession tells from its command tags whether a statement that succeeded has left something in the session. */
export function hasChangedSession(text: string, tags: readonly (string | undefined)[]): boolean {
  return tags.some((tag = '') => SESSION_TAGS.has(tag) || (SET_TAGS.has(tag) && SETS_SESSION.test(text)));
}

/** Tags, as `pg` tells them, of what lasts until the end of the transaction. */
const LASTING_TAGS = new Set(['DECLARE', 'RESET', 'SET']);
/** The same where its tag does not tell. */
const LASTS = /\bset_config\b|\b(?:create|into)\s+(?:(?:global|local)\s+)?temp(?:orary)?\b/i;
const SETS = /\bset\b/i;

/** hasSetForTransaction tells whether a statement that succeeded has left something that lasts until the transaction ends. */
export function hasSetForTransaction(text: string, tags: readonly (string | undefined)[]): boolean {
  return tags.some((tag = '') => LASTING_TAGS.has(tag) || (tag === 'DO' && SETS.test(text))) || LASTS.test(text);
}

/** openedSavepoints counts the savepoints that a text has opened, less those that it has released. */
export function openedSavepoints(tags: readonly (string | undefined)[]): number {
  return tags.reduce((sum, tag) => sum + (tag === 'SAVEPOINT' ? 1 : tag === 'RELEASE' ? -1 : 0), 0);
}
