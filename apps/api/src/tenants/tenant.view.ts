import type { ApiKeyEntity, TenantEntity } from '@holdfast/hub';
import { keyIdOf } from '../access/api-key.js';

/** TenantView is a tenant as operators see it. */
export interface TenantView {
  readonly createdAt: string;
  readonly id: string;
  readonly name: string;
  readonly retentionDays: number;
}

/** KeyView is an API key as operators see it: by its name, which opens nothing. */
export interface KeyView {
  readonly createdAt: string;
  readonly id: string;
  readonly revokedAt: string | null;
}

/** NewKey is an API key, shown this once. */
export interface NewKey {
  readonly apiKey: string;
  /** keyId names it afterwards. */
  readonly keyId: string;
}

/** tenantView writes a tenant as it is shown. */
export function tenantView({ createdAt, id, name, retentionDays }: TenantEntity): TenantView {
  return { id, name, retentionDays, createdAt: createdAt.toISOString() };
}

/** keyView writes a key as it is shown. */
export function keyView({ createdAt, hash, revokedAt }: ApiKeyEntity): KeyView {
  return { id: keyIdOf(hash), createdAt: createdAt.toISOString(), revokedAt: revokedAt?.toISOString() ?? null };
}
