import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Problem } from './problem.js';

type Headers = Readonly<Record<string, string | undefined>>;

const JSON_TYPE = /^application\/json\s*(;|$)/i;

/** JsonBodyGuard refuses a body that is not declared as JSON: it has not been read. */
@Injectable()
export class JsonBodyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<{ headers: Headers }>();
    if (JSON_TYPE.test(headers['content-type'] ?? '')) return true;
    throw new Problem(415, 'Send the body as JSON, with the header Content-Type: application/json.');
  }
}
