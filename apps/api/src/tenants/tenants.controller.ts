import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, UseGuards } from '@nestjs/common';
import { isKeyId } from '../access/api-key.js';
import { JsonBodyGuard } from '../problems/json-body.guard.js';
import { Problem } from '../problems/problem.js';
import { SchemaPipe } from '../problems/schema.pipe.js';
import { OperatorGuard } from './operator.guard.js';
import { TENANT_ID, tenantBody, tenantChange, type TenantBody, type TenantChange } from './tenant.body.js';
import { TenantRegister } from './tenant.register.js';
import type { KeyView, NewKey, TenantView } from './tenant.view.js';

/** TenantsController is for operators: it makes tenants, and keys that act for them. */
@Controller('tenants')
@UseGuards(OperatorGuard)
export class TenantsController {
  constructor(private readonly register: TenantRegister) {}

  /** add answers 201 with the tenant's first API key, which is shown this once. */
  @Post()
  @UseGuards(JsonBodyGuard)
  add(@Body(new SchemaPipe(tenantBody)) body: TenantBody): Promise<TenantView & NewKey> {
    return this.register.add(body);
  }

  /** addKey answers 201 with another API key, which is shown this once. */
  @Post(':id/keys')
  addKey(@Param('id') id: string): Promise<NewKey> {
    return this.register.addKey(id);
  }

  @Patch(':id')
  @UseGuards(JsonBodyGuard)
  change(@Param('id') id: string, @Body(new SchemaPipe(tenantChange)) change: TenantChange): Promise<TenantView> {
    return this.register.change(id, change);
  }

  @Get(':id')
  find(@Param('id') id: string): Promise<TenantView> {
    return this.register.find(id);
  }

  /** keys answers the names of a tenant's keys, never a key. */
  @Get(':id/keys')
  async keys(@Param('id') id: string): Promise<{ keys: KeyView[] }> {
    return { keys: await this.register.keys(id) };
  }

  /** revoke answers 204 once the key opens nothing any more. */
  @Delete(':id/keys/:keyId')
  @HttpCode(204)
  async revoke(@Param('id') id: string, @Param('keyId') keyId: string): Promise<void> {
    if (!TENANT_ID.test(id) || !isKeyId(keyId)) throw new Problem(404, 'The tenant has no such key.');
    await this.register.revoke(id, keyId);
  }
}
