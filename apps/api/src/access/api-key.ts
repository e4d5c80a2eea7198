import { createHash, randomBytes } from 'node:crypto';

const BEGINNING = 'hfk_';
const FORM = /^hfk_[A-Za-z0-9_-]{43}$/;
const ID_LENGTH = 16;

/** newApiKey answers a key of 256 random bits. It is shown once: only its hash is kept. */
export function newApiKey(): string {
  return `${BEGINNING}${randomBytes(32).toString('base64url')}`;
}

/** isApiKey tells whether a text has the form of a key: what has not is refused without asking the database. */
export function isApiKey(text: string): boolean {
  return FORM.test(text);
}

/** hashOfKey answers what is kept of a key. */
export function hashOfKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** keyIdOf answers the name of a key by its hash; it opens nothing. */
export function keyIdOf(hash: string): string {
  return hash.slice(0, ID_LENGTH);
}

/** isKeyId tells whether a text has the form of a key's name. */
export function isKeyId(text: string): boolean {
  return /^[0-9a-f]{16}$/.test(text);
}
