import { Global, Module } from '@nestjs/common';
import { KeyLookup } from './key.lookup.js';
import { TenantGuard } from './tenant.guard.js';

/** AccessModule says who is let in. */
@Global()
@Module({ exports: [KeyLookup, TenantGuard], providers: [KeyLookup, TenantGuard] })
export class AccessModule {}
