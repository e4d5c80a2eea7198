import { TenantRefusedError } from '../errors/tenant-refused.error.js';

const MAX_TENANT_BYTES = 200;
/** U+0000 cannot be stored by PostgreSQL, a lone surrogate cannot be sent as UTF-8. */
const UNSTORABLE = /[\0\p{Surrogate}]/u;

/** checkTenant throws TenantRefusedError for a tenant that a transaction cannot have; null and undefined name none. */
export function checkTenant(tenantId: unknown, tenancy: boolean): void {
  if (tenantId === undefined || tenantId === null) return;
  if (!tenancy) throw new TenantRefusedError('cannot be set while tenancy is off: turn it on with the option tenancy');
  if (typeof tenantId !== 'string') throw new TenantRefusedError('must be a string');
  if (tenantId === '') throw new TenantRefusedError('is empty');
  // A UTF-16 unit is at least one byte: a huge text is not encoded only to be measured.
  if (tenantId.length > MAX_TENANT_BYTES || Buffer.byteLength(tenantId) > MAX_TENANT_BYTES)
    throw new TenantRefusedError(`is over ${MAX_TENANT_BYTES} bytes`);
  if (UNSTORABLE.test(tenantId)) throw new TenantRefusedError('contains U+0000 or a lone surrogate');
}
