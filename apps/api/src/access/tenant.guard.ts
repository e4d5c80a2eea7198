import { UnitOfWork } from '@holdfast/kernel';
import { createParamDecorator, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Unauthorized } from '../problems/unauthorized.js';
import { apiKeyOf, type Credentials } from './credentials.js';
import { KeyLookup } from './key.lookup.js';
import { TenantScope } from './tenant.scope.js';

/** Its keys are requests: a scope goes with its request. */
const scopes = new WeakMap<object, TenantScope>();

/** TenantGuard lets in whoever has an API key, and gives the request the scope of the key's tenant. */
@Injectable()
export class TenantGuard implements CanActivate {
  constructor(
    private readonly keys: KeyLookup,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Credentials & object>();
    const tenantId = await this.keys.tenantOf(apiKeyOf(request) ?? '');
    if (tenantId === undefined)
      throw new Unauthorized('Send the API key of a tenant, as Authorization: Bearer … or as X-Api-Key.');
    scopes.set(request, new TenantScope(tenantId, this.unitOfWork));
    return true;
  }
}

/** Scope is the tenant's scope of the request; only behind TenantGuard is there one. */
export const Scope = createParamDecorator((_: unknown, context: ExecutionContext): TenantScope => {
  const scope = scopes.get(context.switchToHttp().getRequest<object>());
  if (!scope) throw new Error('This route asks for a tenant’s scope and is not behind TenantGuard.');
  return scope;
});
