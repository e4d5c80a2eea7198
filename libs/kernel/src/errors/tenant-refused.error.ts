import { HoldfastError } from './holdfast.error.js';

/** TenantRefusedError says that a unit of work named a tenant that no transaction can have, before anything was sent (Q2, T2). */
export class TenantRefusedError extends HoldfastError {
  constructor(readonly reason: string) {
    super('kernel.tenant_refused', `A unit of work cannot have this tenantId: it ${reason}.`);
  }
}
