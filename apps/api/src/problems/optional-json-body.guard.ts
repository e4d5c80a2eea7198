import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { JsonBodyGuard } from './json-body.guard.js';

/** OptionalJsonBodyGuard refuses a body that is not declared as JSON, and lets in a request without one. */
@Injectable()
export class OptionalJsonBodyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<{ headers: Readonly<Record<string, string | undefined>> }>();
    const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers;
    return (length === '0' && encoding === undefined) || new JsonBodyGuard().canActivate(context);
  }
}
