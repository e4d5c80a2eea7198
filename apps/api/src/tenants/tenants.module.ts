import { Module, type DynamicModule } from '@nestjs/common';
import { OPERATOR_TOKEN, OperatorGuard } from './operator.guard.js';
import { TenantRegister } from './tenant.register.js';
import { TenantsController } from './tenants.controller.js';

/** TenantsModule has the routes of operators. */
@Module({})
export class TenantsModule {
  /** with takes the operator's token; without one there are no such routes (H4). */
  static with(token: string | undefined): DynamicModule {
    if (token === undefined) return { module: TenantsModule };
    return {
      module: TenantsModule,
      controllers: [TenantsController],
      providers: [{ provide: OPERATOR_TOKEN, useValue: token }, OperatorGuard, TenantRegister],
    };
  }
}
